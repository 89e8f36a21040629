# The service in a container. It keeps its store in /data, or where EVENHAND_DATABASE_URL says.
FROM python:3.13-slim-bookworm AS build
WORKDIR /src
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY requirements/dev.txt requirements/dev.txt
COPY src src
# The versions of the lock; its hashes are for what is installed with it alone.
RUN sed -e '/--hash=/d' -e 's/ \\$//' requirements/dev.txt > pins.txt \
  && python -m venv /opt/evenhand \
  && /opt/evenhand/bin/pip install --no-cache-dir --constraint pins.txt '.[service,postgres,mcp,telemetry]'

FROM python:3.13-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /data --create-home evenhand
COPY --from=build /opt/evenhand /opt/evenhand
ENV PATH=/opt/evenhand/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8321
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8321/readyz', timeout=4)"]
ENTRYPOINT ["evenhand"]
CMD ["serve", "--host", "0.0.0.0"]
