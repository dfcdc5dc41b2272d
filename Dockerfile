# The server as an image, for several machines or one. Only the inspector's page is built: Node strips the types.
#   docker build -t antiphon .
#   docker run -p 8080:8080 -v antiphon:/data antiphon
# docs/several-machines.md has more.

ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

# Of our own packages only what npm reads, so that a change of code installs nothing anew.
FROM ${NODE_IMAGE} AS manifests
WORKDIR /app
COPY packages packages
COPY generated generated
RUN find packages generated -type f ! -name package.json -delete

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY --from=manifests /app ./
# The optional packages are copies of Node, which the image has.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-progress

FROM packages AS pages
RUN npm ci --ignore-scripts --no-progress
COPY tsconfig.json ./
COPY scripts/build-page.ts scripts/
COPY web web
COPY generated generated
COPY packages packages
COPY src src
RUN node scripts/build-page.ts && mkdir -p dist/inspector

FROM ${NODE_IMAGE}
# A C library that gives each thread memory of its own returns little of it; two such arenas do for a server.
ENV NODE_ENV=production \
    MALLOC_ARENA_MAX=2 \
    HOST=0.0.0.0 \
    DATA_DIR=/data \
    SPEECH_ENGINE=none \
    FIND_LOCAL_DAEMON=false
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=pages /app/dist/inspector dist/inspector
COPY package.json LICENSE ./
COPY generated generated
COPY packages packages
COPY src src
RUN install -d -o 1000 -g 1000 -m 700 /data
# By number, so that an orchestrator sees that it is not root.
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=24", "/app/src/main.ts"]
