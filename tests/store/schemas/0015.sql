BEGIN TRANSACTION;
CREATE TABLE baselines (
	name TEXT NOT NULL, 
	run TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY (name), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "baselines" VALUES('main','20261116-051233-ab12cd','2026-11-16T06:01:00+00:00');
CREATE TABLE batches (
	id TEXT NOT NULL, 
	run TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	state TEXT NOT NULL, 
	at TEXT NOT NULL, 
	provider_id TEXT, 
	lines INTEGER NOT NULL, 
	answered INTEGER NOT NULL, 
	tokens BIGINT NOT NULL, 
	money TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE calls (
	"key" TEXT NOT NULL, 
	run TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	variant TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	kept TEXT NOT NULL, 
	input_tokens BIGINT, 
	output_tokens BIGINT, 
	cached_tokens BIGINT, 
	cost TEXT, 
	attempts INTEGER NOT NULL, 
	seconds DOUBLE NOT NULL, 
	cached_from TEXT, 
	at TEXT NOT NULL, 
	failed TEXT, 
	reply TEXT, 
	PRIMARY KEY ("key", run), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "calls" VALUES('a7b12f5212cd3504f9399c8323a89e22bb21036d3af37c1dc0f761b045b24ca0','20261116-051233-ab12cd','openai/gpt',0,'control',0,'raw',10,2,NULL,'0.00031',1,0.1,NULL,'2026-11-16T05:12:39+00:00',NULL,'{"text":"7"}');
INSERT INTO "calls" VALUES('4512fe1f70502c0819885e4794dc82546056e5fa35bcd468b7a4ce2edbe4c56a','20261116-051233-ab12cd','openai/gpt',1,'control',0,'none',10,2,NULL,'0.00031',1,0.1,NULL,'2026-11-16T05:12:39+00:00','busy',NULL);
CREATE TABLE columns (
	run TEXT NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (run), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "columns" VALUES('20261116-051233-ab12cd',X'00636F6C756D6E73FF');
CREATE TABLE contest_events (
	contest TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	calls TEXT NOT NULL, hash TEXT, 
	PRIMARY KEY (contest, number), 
	FOREIGN KEY(contest) REFERENCES contests (id) ON DELETE CASCADE
);
INSERT INTO "contest_events" VALUES('20261116-071500-c0ffee',0,'2026-12-01T18:00:00+00:00','{"event":"submitted","id":"é0"}','[{"reply":"7"}]','cdb0bb66fa68dbc835fe3e83c5d1fcff60613b320e90626fe85d18f044d3b150');
INSERT INTO "contest_events" VALUES('20261116-071500-c0ffee',1,'2026-12-01T18:00:01+00:00','{"event":"submitted","id":"é1"}','[{"reply":"7"}]','053a35b3339ff3e4155997582581e9b9205621779064efc6730dc2b9ed7c625a');
CREATE TABLE contest_inbox (
	contest TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	author TEXT NOT NULL, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (contest, number), 
	FOREIGN KEY(contest) REFERENCES contests (id) ON DELETE CASCADE
);
CREATE TABLE contest_receipts (
	"key" TEXT NOT NULL, 
	file TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	at TEXT NOT NULL, 
	PRIMARY KEY ("key", file)
);
CREATE TABLE contests (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	state TEXT NOT NULL, 
	started TEXT NOT NULL, 
	ended TEXT, 
	touched TEXT NOT NULL, 
	holder TEXT, 
	summary TEXT, 
	source TEXT NOT NULL, "key" TEXT, seal TEXT, hooks TEXT, wakes TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "contests" VALUES('20261116-071500-c0ffee','slogan','d1','finished','2026-11-16T07:15:00+00:00','2026-11-16T07:16:00+00:00','2026-11-16T07:15:01.000+00:00',NULL,'{"winner":"a"}','name: slogan
','["slogan",null]','ab11823c650615f71199523fe00cadde19b0ae1eaec582451b32115ff3211fcb',NULL,NULL);
CREATE TABLE evaluations (
	id TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	at TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "evaluations" VALUES('20261116-081500-e7a100','release-notes','2026-11-16T08:15:00.000+00:00','f1','d1','{"score":"7/1"}');
CREATE TABLE evenhand_version (
	version_num TEXT NOT NULL, 
	PRIMARY KEY (version_num)
);
INSERT INTO "evenhand_version" VALUES('0015');
CREATE TABLE idempotency_keys (
	caller TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	expires TEXT NOT NULL, 
	answer TEXT, 
	PRIMARY KEY (caller, "key")
);
CREATE TABLE label_answers (
	run TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	batch INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	round INTEGER NOT NULL, 
	sample TEXT NOT NULL, 
	variant TEXT NOT NULL, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (run, rater, batch, place, round), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE label_batches (
	run TEXT NOT NULL, 
	batch INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (run, batch), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE labels (
	run TEXT NOT NULL, 
	sample TEXT NOT NULL, 
	variant TEXT NOT NULL, 
	criterion TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	score TEXT NOT NULL, 
	at TEXT NOT NULL, output TEXT, chance TEXT, batch INTEGER, schema INTEGER, 
	PRIMARY KEY (run, sample, variant, criterion, rater), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "labels" VALUES('20261116-051233-ab12cd','s0','control','accuracy','ann','4/1','2026-11-16T06:00:00+00:00',NULL,NULL,NULL,NULL);
INSERT INTO "labels" VALUES('20261116-051233-ab12cd','s1','','accuracy','ann','4/1','2026-11-16T06:00:00+00:00',NULL,NULL,NULL,NULL);
CREATE TABLE made (
	run TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	variant TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (run, "key"), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "made" VALUES('20261116-051233-ab12cd','e9acd9d04ebdb13d1968dab174317ecff95cce4f19b943e17c3addb415b7e347',0,'live',0,'2026-11-16T05:12:38+00:00','{"text":"out"}');
CREATE TABLE model_limits (
	model TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (model)
);
CREATE TABLE outbox (
	id TEXT NOT NULL, 
	contest TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	target TEXT NOT NULL, 
	state TEXT NOT NULL, 
	made TEXT NOT NULL, 
	due TEXT NOT NULL, 
	delivered TEXT, 
	failure TEXT, 
	attempts INTEGER NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(contest) REFERENCES contests (id) ON DELETE CASCADE
);
CREATE TABLE probe_looks (
	probe TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (probe, number), 
	FOREIGN KEY(probe) REFERENCES probes (name) ON DELETE CASCADE
);
CREATE TABLE probes (
	name TEXT NOT NULL, 
	at TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE reply_claims (
	"key" TEXT NOT NULL, 
	run TEXT NOT NULL, 
	PRIMARY KEY ("key"), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE results (
	run TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	variant TEXT NOT NULL, 
	repeat INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	state TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	score TEXT, 
	composite TEXT, 
	number DOUBLE, 
	at TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (run, position, variant, repeat), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "results" VALUES('20261116-051233-ab12cd',0,'control',0,'d590756e8834c4fd2b9bc81b6404e34a613195ebce31ecf7344874a1b355eb55','scored','s0','7/3',NULL,2.33333333333333348136e+00,'2026-11-16T05:12:40+00:00','{"steps":[]}');
INSERT INTO "results" VALUES('20261116-051233-ab12cd',1,'control',0,'062b303c54b7237a687aec5051f2383a692b14bc07d3ff61c1f51d460dadbf89','failed','s1',NULL,NULL,NULL,'2026-11-16T05:12:40+00:00','{"steps":[]}');
CREATE TABLE run_holds (
	run TEXT NOT NULL, 
	token BIGINT NOT NULL, 
	beat DOUBLE NOT NULL, 
	PRIMARY KEY (run), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE run_requests (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	made TEXT NOT NULL, 
	why TEXT, 
	progress TEXT, 
	content TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE runs (
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	state TEXT NOT NULL, 
	started TEXT NOT NULL, 
	ended TEXT, 
	seed BIGINT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	taken_from TEXT, 
	holder TEXT, 
	keep TEXT NOT NULL, 
	summary TEXT, 
	source TEXT NOT NULL, 
	setup TEXT NOT NULL, imported TEXT, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('20261116-051233-ab12cd','support','d1','finished','2026-11-16T05:12:33+00:00','2026-11-16T05:13:00+00:00',7,'f1',NULL,NULL,'raw','{"mean":"7/3"}','name: support
','{"a":1}',NULL);
CREATE TABLE samples (
	run TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (run, position), 
	FOREIGN KEY(run) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "samples" VALUES('20261116-051233-ab12cd',0,'s0','{"input":"hé"}');
INSERT INTO "samples" VALUES('20261116-051233-ab12cd',1,'s1','{"input":"hé"}');
CREATE TABLE tokens (
	id TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	role TEXT NOT NULL, 
	name TEXT NOT NULL, 
	made TEXT NOT NULL, 
	expires TEXT, 
	revoked TEXT, 
	PRIMARY KEY (id)
);
CREATE INDEX ix_runs_name ON runs (name);
CREATE INDEX ix_contests_name ON contests (name);
CREATE INDEX ix_results_subject_variant ON results (subject, variant);
CREATE INDEX ix_calls_run_position ON calls (run, position);
CREATE UNIQUE INDEX ix_contests_key ON contests ("key");
CREATE INDEX ix_runs_guests ON runs (id) WHERE imported = 'guest';
CREATE INDEX ix_evaluations_subject ON evaluations (subject);
CREATE INDEX ix_contests_wakes ON contests (wakes);
CREATE UNIQUE INDEX ix_contest_inbox_id ON contest_inbox (contest, kind, id);
CREATE INDEX ix_outbox_contest ON outbox (contest);
CREATE INDEX ix_outbox_due ON outbox (state, due);
CREATE UNIQUE INDEX ix_tokens_hash ON tokens (hash);
CREATE INDEX ix_run_requests_state ON run_requests (state);
CREATE INDEX ix_idempotency_keys_expires ON idempotency_keys (expires);
CREATE INDEX ix_batches_run ON batches (run);
CREATE INDEX ix_batches_state ON batches (state);
COMMIT;
