"""The service: a REST API over HTTP. It checks who calls, hands requests to workflows, and computes nothing itself."""
