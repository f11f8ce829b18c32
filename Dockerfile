# The service on Node 24: compiled code and production dependencies, without the tools that build them.
# docker build --build-arg VERSION=$(node -p "require('./package.json').version") -t users-service .
FROM node:24-bookworm-slim AS base
WORKDIR /app
# .npmrc makes npm ci fail if this Node is older than package.json allows.
COPY package.json package-lock.json .npmrc ./

FROM base AS build
RUN npm ci --ignore-scripts
COPY . .
# What remains is what runs: no tools of the build, no packages, no types.
RUN npm run build \
 && rm -r dist/scripts/build dist/chassis dist/client dist/src/client dist/.tsbuildinfo dist/.built \
 && find dist -name '*.d.ts' -delete

FROM base AS dependencies
RUN npm ci --omit=dev --ignore-scripts
# Removes the binaries for other platforms, the code for browsers, the types and the source maps.
RUN cd node_modules/@photostructure/sqlite \
 && find prebuilds -mindepth 1 -maxdepth 1 ! -name "$(node -p 'process.platform + "-" + process.arch')" -exec rm -r {} + \
 && find . -mindepth 1 -maxdepth 1 ! -name dist ! -name prebuilds ! -name package.json ! -name LICENSE -exec rm -r {} + \
 && cd /app/node_modules \
 && rm -r @opentelemetry/*/build/esm @opentelemetry/*/build/esnext \
 && find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) ! -iname 'licen[sc]e*' -delete

FROM node:24-bookworm-slim
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Users Service" \
      org.opencontainers.image.description="User records over HTTP, and the bearer tokens that protect them" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
WORKDIR /app
# This heap leaves room for buffers in a container of 256 MiB. The tests of memory pass with 52 MB, and not with 48.
# Buffers over the threshold go back to the system when they are free: most of what is read, up to 64 KiB at once, but
# not the blocks of 32 KiB that V8 often takes.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=36000 NODE_OPTIONS="--max-old-space-size=64 --max-semi-space-size=4"
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
# How the log names the program that makes the first user.
ENV CREATE_USER=create-user
# The folder of SQLite, for a volume; only the uid 1000 can read it. Not declared as a VOLUME: a container with a
# read-only file system would get one without a limit on its size.
RUN install -d -m 700 -o 1000 -g 1000 /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json openapi.yaml ./
# For example: docker run … backup --help
RUN for program in $(grep -l '^#!' dist/scripts/users/*.js); do \
      chmod +x $program && ln -s /app/$program /usr/local/bin/$(basename $program .js); \
    done
# Compiled code: with it, the start takes 0.77 (MongoDB) or 0.87 (SQLite) of the time. Node uses it only for the
# account that made it.
ENV NODE_COMPILE_CACHE=/app/.cache
RUN install -d -o 1000 -g 1000 .cache
USER 1000:1000
RUN DATA_DIR=/tmp/users timeout --preserve-status 5 node dist/src/main.js \
 && node -e "import('./dist/src/store/mongo/store.js')" \
 && rm -r /tmp/users
EXPOSE 3000 9090
# By bash: node would take 70 ms of CPU time, and obey proxy variables. HTTP/1.0 needs no Host. A host of zeros alone is
# all addresses: a container may have no ::1.
HEALTHCHECK --interval=2s --timeout=3s --start-period=60s --retries=5 \
  CMD ["bash", "-c", "port=${OPS_PORT//[[:space:]]} ops=${OPS_HOST//[[:space:]]} host=${HOST//[[:space:]]}; host=${ops:-$host}; [[ $host == *[!0.:]* ]] || host=127.0.0.1; exec 3<>/dev/tcp/$host/${port:-9090} && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -rt 2 line <&3 && [[ $line == *' 200 '* ]]"]
CMD ["node", "dist/src/main.js"]
