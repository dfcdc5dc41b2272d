export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# Always through a shell, so that the PATH above is the one that commands are found with.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export PACT_DO_NOT_TRACK := true
export NODE_COMPILE_CACHE := $(CURDIR)/node_modules/.cache/node

# The C library gives each thread memory of its own, of which little comes back. Two such arenas do for a server.
export MALLOC_ARENA_MAX ?= 2

# Megabytes of a half of the young generation. V8 alone takes 32, which costs memory and the caches of the processor.
export SERVER_FLAGS ?= --max-semi-space-size=24

# What follows a command: make start ARGS="--port 9000", make test ARGS=src/runs
ARGS ?=

# npm writes these two files when an install is complete.
INSTALLED := node_modules/.package-lock.json
# make start installs only what the server and its pages need. What needs more then installs everything.
SERVER_ONLY := node_modules/.server-only
STARTABLE := $(if $(wildcard $(SERVER_ONLY)),$(SERVER_ONLY),$(if $(wildcard $(INSTALLED)),$(INSTALLED),$(SERVER_ONLY)))
CODEGEN_INSTALLED := scripts/codegen/node_modules/.package-lock.json
CODEX_INSTALLED := tests/clients/codex/node_modules/.package-lock.json
# Only make clients tries Cline: a run of it waits ten seconds for its vendor. Elsewhere its tests are skipped.
CLINE_INSTALLED := tests/clients/cline/node_modules/.package-lock.json
# Only make clients tries Claude Code and OpenCode: they are programs of 400 and 185 MB.
CLAUDE_CODE_INSTALLED := tests/clients/claude-code/node_modules/.package-lock.json
OPENCODE_INSTALLED := tests/clients/opencode/node_modules/.package-lock.json
# Clients in Python. Their tests are skipped where there is no python3 with venv.
PYTHON_INSTALLED := .cache/python-clients/installed
# More clients in Python, which only make clients tries.
PYTHON_DOORS_INSTALLED := .cache/python-doors/installed
# LiveKit and Pipecat with what they need, 730 MB.
PYTHON_REALTIME_INSTALLED := .cache/python-realtime/installed
# So is aider, of 690 MB. It pins the packages that it needs to versions of its own.
AIDER_INSTALLED := .cache/python-aider/installed
# A model of random weights and the server that runs it. Compiling the server takes minutes, so only make real-model does
# it; elsewhere its tests are skipped.
REAL_MODEL := .cache/real-model/tiny.gguf
# What scripts/language-model fetches.
SMALL_MODEL := .cache/real-model/data/language-model/SmolLM2-135M-Instruct.Q4_1.gguf
# The pages of both interfaces, and what they are made from.
PAGE := dist/inspector/index.html
PAGE_SOURCES := scripts/build-page.ts $(wildcard web/*/* web/*/*/* packages/client/src/*.ts packages/client/src/*/*.ts packages/stream-grammar/src/*.ts packages/stream-grammar/src/*/*.ts generated/*/client.ts)
# What makes a site of docs/, apart from the other packages because of its size.
DOCS_SITE_INSTALLED := scripts/docs-site/node_modules/.package-lock.json
# No package runs a script of its own.
NPM_CI := npm ci --include=dev --ignore-scripts --loglevel=error --no-progress

.PHONY: help setup node-version startable free-ports page screenshots docs speech-engine language-engine generate generate-check dev start debian-programs test-setup test test-quick trials clients cluster-test durability simulate upgrade-test contract-test pacts mutations requirements check structure bench real-model fuzz real-speech tools-quality analyst-trial mcp-servers client-build package newcomer sbom code-packages

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: node-version ## install what the server and its tests need; on Linux with glibc Node 24 is part of it

# Systems for which npm has no Node 24 use their own, which may be too old.
node-version: $(INSTALLED)
	@node scripts/check-node.js

# The same of an install of the server alone.
startable: $(STARTABLE)
	@node scripts/check-node.js

# Comes first: an install takes a minute, which nobody wants to wait for only to read that a port is in use.
free-ports:
	@node scripts/check-ports.js $(ARGS)

start: free-ports startable $(PAGE) ## serve both interfaces; settings: make start ARGS=--help
	node $(SERVER_FLAGS) src/main.ts $(ARGS)

dev: free-ports startable $(PAGE) ## serve both interfaces, and start again whenever a file changes
	node $(SERVER_FLAGS) --watch src/main.ts $(ARGS)

page: $(INSTALLED) $(PAGE) ## build the inspector and the chat lab; make start does so by itself

screenshots: $(INSTALLED) $(PAGE) ## take the pictures of the inspector in docs/images/; needs Chromium
	node scripts/screenshots.ts

docs: $(INSTALLED) $(DOCS_SITE_INSTALLED) ## build the documentation as a site in dist/docs, with llms.txt
	node scripts/docs-site/build.ts

speech-engine: $(INSTALLED) ## build the speech engine that the tests use: once, two minutes on two cores
	node scripts/speech-engine.ts

language-engine: $(INSTALLED) ## fetch the engine that runs language models, for the tests: once, 49 MB
	node scripts/language-engine.ts

# Tests of programs that cannot be installed here are skipped.
debian-programs: $(INSTALLED)
	@node scripts/debian-programs.ts

test-setup: node-version $(CODEX_INSTALLED) $(PYTHON_INSTALLED) $(PAGE) debian-programs speech-engine language-engine ## build and install what the tests need beyond the rest

test: test-setup ## run the tests, and a file that fails once more alone; make test ARGS=src/runs
	node scripts/run-tests.ts $(ARGS)

# Everything: make test TRIALS=all
test: export TRIALS ?= short

test-quick: $(INSTALLED) ## run the tests of pure code, and some of one whole server: under a minute
	vitest run --project tests $$(node scripts/quick-tests.ts) $(ARGS)

trials: test-setup ## run what make test leaves out because it takes long: an hour
	TRIALS=only node scripts/run-tests.ts $(ARGS)

cluster-test: node-version debian-programs ## kill, pause and cut off three nodes under load: ten minutes; needs root, PostgreSQL, Redis and nginx
	CLUSTER_KILLS=30 CLUSTER_CUTS=20 CLUSTER_PAUSES=6 CLUSTER_CRASHES=3 CLUSTER_SHOWS_LOSS=1 vitest run --project tests tests/cluster $(ARGS)

clients: $(INSTALLED) $(CODEX_INSTALLED) $(CLINE_INSTALLED) $(CLAUDE_CODE_INSTALLED) $(OPENCODE_INSTALLED) $(PYTHON_INSTALLED) $(PYTHON_DOORS_INSTALLED) $(PYTHON_REALTIME_INSTALLED) $(AIDER_INSTALLED) ## try the server with other projects' clients, and print what works
	node tests/clients/matrix.ts

.PHONY: deploy-test
deploy-test: node-version debian-programs ## try units, proxies with silence and gaps, restarts and backups: three minutes; needs a quiet machine
	DEPLOY_TEST=1 vitest run --project tests tests/deploy tests/backup $(ARGS)

.PHONY: systemd-test
systemd-test: node-version debian-programs $(PAGE) ## install, upgrade, back up and remove the service on a Debian with systemd: five minutes; needs root, debootstrap and cgroup2
	SYSTEMD_TEST=1 vitest run --project tests tests/systemd $(ARGS)

upgrade-test: node-version debian-programs ## replace servers of an earlier commit under load: four minutes; needs the history of git; make upgrade-test UPGRADE_FROM=commit
	ROLLING_UPGRADE=1 vitest run --project tests tests/upgrade $(ARGS)

durability: node-version debian-programs ## kill servers and cut off their database under responses, and see that each ends well: 45 minutes; make durability ARGS=--help
	node scripts/durability/main.ts $(ARGS)

simulate: $(INSTALLED) ## run nodes with faults in one process, by seeds, and see that runs keep their promises; make simulate ARGS="--seeds 100000", ARGS="--seed 17", ARGS=--mutations
	node tests/simulation/main.ts $(ARGS)

contract-test: $(INSTALLED) ## run the contract tests: clients write pacts, and servers are held to them; make contract-test ARGS=--help
	node scripts/contract-test.ts $(ARGS)

pacts: $(INSTALLED) ## have the clients write contract-tests/pacts anew
	node scripts/contract-test.ts --write-pacts

mutations: $(INSTALLED) speech-engine pacts ## break the server in many small ways, and see that the contract tests and the simulation notice each: fifteen minutes
	node contract-tests/mutations/main.ts $(ARGS)
	node tests/simulation/main.ts --mutations

requirements: $(INSTALLED) ## hold requirements to tests; to those that passed: make requirements ARGS="report.json …"
	node scripts/requirements-coverage.ts $(ARGS)

check: $(INSTALLED) $(CODEGEN_INSTALLED) ## types, lint, format, import rules, dead code, tidiness, commits, stale files, coverage of requirements
	node scripts/check.ts

structure: $(INSTALLED) ## print what is measured of the code's structure, beside an earlier commit; make structure ARGS="--base COMMIT"
	@node scripts/structure/main.ts $(ARGS)

generate: $(INSTALLED) $(CODEGEN_INSTALLED) ## make generated/ from specs/
	node scripts/codegen/generate.ts

generate-check: $(INSTALLED) $(CODEGEN_INSTALLED) ## fail if generated/ is not what specs/ gives
	node scripts/codegen/generate.ts --check

client-build: $(INSTALLED) ## compile the client, antiphon-client and antiphon/client, into packages/client/dist/
	npm run --silent build:client

package: $(INSTALLED) $(PAGE) ## make the packages of the server and of the client, build/antiphon-*.tgz
	node scripts/build-package.ts
	@mkdir -p build
	npm pack --ignore-scripts --silent --pack-destination build
	npm pack --ignore-scripts --silent --pack-destination build ./packages/client

newcomer: package ## install the packed server in an empty folder, and start it in others, with a pulled model too: a first answer within ten seconds
	node scripts/newcomer.ts

sbom: $(INSTALLED) ## list what the packages depend on, as CycloneDX, in build/*.cdx.json
	@node scripts/sbom.ts

code-packages: $(INSTALLED) ## fill a folder for CODE_PACKAGES_DIR: make code-packages ARGS='FOLDER numpy pandas matplotlib'
	@node scripts/code-packages.ts $(ARGS)

bench: $(INSTALLED) ## measure the server
	node scripts/bench/main.ts $(ARGS)

real-model: $(INSTALLED) $(REAL_MODEL) $(PYTHON_INSTALLED) language-engine ## try a real model server, compiled from PyPI, and a small language model that this server runs itself: ten minutes
	vitest run --project tests tests/model-servers $(ARGS)
	node scripts/language-model/main.ts
	node scripts/language-model/vectors.ts
	LANGUAGE_MODEL_FILE=$(SMALL_MODEL) vitest run --project tests tests/embedded-model/clients.test.ts

tools-quality: $(INSTALLED) ## measure how well file_search finds answers of FAQs in several languages, beside other rankers
	node scripts/tools-quality/main.ts $(ARGS)

analyst-trial: $(INSTALLED) ## run nine tasks of an analyst in the code interpreter; make analyst-trial ARGS=pyodide
	node scripts/tools-quality/analyst.ts $(ARGS)

mcp-servers: $(INSTALLED) ## try MCP servers of others, from npm and PyPI, through a whole server
	node scripts/mcp-servers/main.ts $(ARGS)

real-speech: $(INSTALLED) $(PAGE) ## count the words of people's voices that are heard wrong, beside whisper.cpp's own server
	node scripts/real-speech/main.ts $(ARGS)

fuzz: $(INSTALLED) ## hold both servers to their documents with requests that Schemathesis makes up; make fuzz ARGS=--help
	node scripts/fuzz/main.ts $(ARGS)

$(PAGE): $(PAGE_SOURCES) | $(STARTABLE)
	node scripts/build-page.ts
	@touch $@

$(SERVER_ONLY): package-lock.json web/package-lock.json
	@node scripts/install-server.js
	@touch $@

ifneq ($(wildcard $(SERVER_ONLY)),)
.PHONY: $(INSTALLED)
endif
$(INSTALLED): package-lock.json
	$(NPM_CI)
	@rm -f $(SERVER_ONLY)
	@# npm 9, which Debian 12 has, makes no links to the programs of optional packages, and Node comes in one.
	@for node in node_modules/node-linux-*/bin/node; do \
		[ ! -x "$$node" ] || [ -e node_modules/.bin/node ] || ln -s "../$${node#node_modules/}" node_modules/.bin/node; \
	done
	@# npm installs the Node for glibc on other Linux systems too, where it does not run and would hide theirs.
	@! [ -e node_modules/.bin/node ] || node_modules/.bin/node --version >/dev/null 2>&1 || rm node_modules/.bin/node
	@touch $@

$(CODEX_INSTALLED): tests/clients/codex/package-lock.json
	$(NPM_CI) --prefix tests/clients/codex
	@touch $@

$(CLINE_INSTALLED): tests/clients/cline/package-lock.json
	$(NPM_CI) --prefix tests/clients/cline
	@mkdir -p $(@D) # On systems for which there is no Cline, nothing was installed.
	@touch $@

$(CLAUDE_CODE_INSTALLED): tests/clients/claude-code/package-lock.json
	$(NPM_CI) --prefix tests/clients/claude-code
	@mkdir -p $(@D) # On systems for which there is no Claude Code, nothing was installed.
	@touch $@

$(OPENCODE_INSTALLED): tests/clients/opencode/package-lock.json
	$(NPM_CI) --prefix tests/clients/opencode
	@mkdir -p $(@D) # On systems for which there is no OpenCode, nothing was installed.
	@touch $@

$(PYTHON_INSTALLED): tests/clients/python/requirements.txt
$(PYTHON_DOORS_INSTALLED): tests/clients/python/doors-requirements.txt
$(PYTHON_REALTIME_INSTALLED): tests/clients/python/realtime-requirements.txt
$(AIDER_INSTALLED): tests/clients/python/aider-requirements.txt
$(PYTHON_INSTALLED) $(PYTHON_DOORS_INSTALLED) $(PYTHON_REALTIME_INSTALLED) $(AIDER_INSTALLED):
	@mkdir -p $(@D)
	@{ python3 -m venv $(@D) && $(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<; } || { \
		rm -rf $(@D)/bin; mkdir -p $(@D); \
		echo 'The clients in Python were not installed. Their tests are skipped.'; }
	@touch $@

$(REAL_MODEL): tests/model-servers/requirements.txt tests/model-servers/tiny_model.py
	@mkdir -p $(@D)
	python3 -m venv $(@D)/venv
	$(@D)/venv/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	$(@D)/venv/bin/python tests/model-servers/tiny_model.py $@

$(DOCS_SITE_INSTALLED): scripts/docs-site/package-lock.json
	$(NPM_CI) --prefix scripts/docs-site
	@touch $@

$(CODEGEN_INSTALLED): scripts/codegen/package-lock.json
	$(NPM_CI) --prefix scripts/codegen
	@touch $@
