// `remit serve`: settings → database → server; SIGTERM and SIGINT let the requests under way finish.

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { listOrganizations } from './accounts/doors.ts'
import { crmPath } from './app/demo/crm.ts'
import { createDemoKey, createFirstDemo } from './app/demo/demo.ts'
import { demoWarning } from './app/hosted/test-mode.ts'
import type { Config } from './config.ts'
import { byCommand } from './platform/base/origin.ts'
import { type Database, OutcomeUnknown, unavailability } from './platform/db/database.ts'
import { openDatabase } from './platform/db/drivers/open.ts'
import { tightenDataFolder } from './platform/db/files/data-folder.ts'
import { lockForServer } from './platform/db/files/server-lock.ts'
import { openLog } from './platform/log/log.ts'
import { LogSink } from './platform/log/sink.ts'
import { requireEncryptionKey } from './platform/outside/sealed-store.ts'
import { type RunningServer, startServer } from './server.ts'

interface ServeOptions {
	readonly demo?: boolean
	readonly newKey?: boolean
	readonly json?: boolean
}

export async function serve(config: Config, options: ServeOptions): Promise<void> {
	if (!config.DATABASE_URL) setFlagsFromString(smallHeap)
	const stdout = new LogSink(1)
	const log = openLog(config, stdout)
	// First of all: a signal during the start ends it as soon as nothing is half done, and closes what is open by then.
	const started = Promise.withResolvers<Closable>()
	const ending = endOnSignals(config, {
		async close() {
			await (await started.promise).close()
			log.info('closed')
			await stdout.close()
		},
		async giveUp() {
			log.error('what is under way could not be ended in time; the process ends without it')
			await stdout.close()
		},
	})
	const { greeting, ...rest } = await start(config, options, { log, ending })
	started.resolve(rest)
	if (greeting === undefined) return
	stdout.write(`${greeting}\n`)
	stdout.flush()
}

interface Closable {
	close(): Promise<void>
}

interface Starting {
	readonly log: Logger
	/** Aborts when the process is to end. */
	readonly ending: AbortSignal
}

/** `greeting` is what the start tells the person; absent when the process is to end. */
async function start(config: Config, options: ServeOptions, starting: Starting): Promise<Closable & { greeting?: string }> {
	const { log, ending } = starting
	const lock = config.DATABASE_URL ? undefined : lockForServer(config.DATA_DIR)
	const db = await openDatabase(config, log)
	const closeDatabase = async () => {
		await db.close()
		lock?.release()
	}
	if (ending.aborted) return { close: closeDatabase }
	for (const warning of tightenDataFolder(config.DATA_DIR)) log.warn(warning)
	let isStarting = true
	const server = await requireEncryptionKey(db, config)
		.then(() => startServer({ db, config, log, isStarting: () => isStarting }))
		.catch(async (error) => {
			await db.close()
			throw error
		})
	const close = async () => {
		await server.close()
		lock?.release()
	}
	try {
		const greeting = await prepare({ db, server, config, options }, starting)
		isStarting = false
		return { close, greeting }
	} catch (error) {
		if (!ending.aborted) throw error
		const wasBrokenOff = error === ending.reason || (error as Error).cause === ending.reason
		if (!wasBrokenOff) log.error({ err: error }, 'the start has failed; the process was told to end meanwhile')
		return { close }
	}
}

/** How long the start waits for a database that was there when it began. */
const pauseMs = 1_000

/**
 * The server listens by now: that the database is lost for a while is no reason to end. Throws when the process is to end. What was stored though
 * its commit failed is done again: the demo is then there, and a key that nobody has seen may be left beside the one that is shown.
 */
async function untilDone<T>(work: () => Promise<T>, { log, ending }: Starting): Promise<T> {
	for (;;) {
		ending.throwIfAborted()
		try {
			return await work()
		} catch (err) {
			if (unavailability(err instanceof OutcomeUnknown ? err.cause : err) === undefined) throw err
			log.warn({ err }, 'the start waits for the database')
			await sleep(pauseMs, undefined, { signal: ending })
		}
	}
}

interface Prepared {
	readonly db: Database
	readonly server: RunningServer
	readonly config: Config
	readonly options: ServeOptions
}

/** What a start does once the server listens, such as the demo, whose sync needs it. Returns what to tell the person. */
async function prepare({ db, server, config, options }: Prepared, starting: Starting): Promise<string> {
	const { log } = starting
	const empty = (await untilDone(() => listOrganizations(db), starting)).length === 0
	const origin = byCommand(server.now(), 'serve')
	const created = empty && options.demo ? (await untilDone(() => createFirstDemo(db, origin), starting))?.key : undefined
	const syncId = created && (await connectCrm(config, server.url, created, log))
	const another = created || !options.newKey ? undefined : await untilDone(() => createDemoKey(db, origin), starting)
	if (options.newKey && !created && !another) log.warn('--new-key: there is no demo organization; remit keys create makes a key')
	const key = created ?? another
	const warning = await untilDone(() => demoWarning(db, config.HOST), starting)
	if (warning) log.warn(warning)
	const url = config.BASE_URL || server.url
	const setupUrl = server.setupPath && `${url}${server.setupPath}`
	if (options.json) return JSON.stringify({ url, key, syncId, setupUrl })
	if (config.ROLE === 'worker' && !key) return `The worker runs; ${server.url} has /health and /ready`
	return created ? welcome(url, created, { syncId, setupUrl }) : plainStart(url, { empty, setupUrl, another })
}

/**
 * V8 otherwise lets the heap of a busy server grow to several times what is alive: some 20 MB more, for no less CPU time. Not with
 * PostgreSQL, whose answers live until the next scavenge: a list costs a quarter less CPU time with room to grow.
 */
const smallHeap = '--heap-growing-percent=50'

/** In development the demo has a CRM to sync with; undefined where there is none, or it cannot be reached. */
async function connectCrm({ NODE_ENV }: Config, url: string, key: string, log: Logger): Promise<string | undefined> {
	if (NODE_ENV !== 'development') return undefined
	try {
		const { connectDemo } = await import('./app/demo/connect.ts')
		return await connectDemo(url, key)
	} catch (err) {
		log.warn({ err }, 'the demo has no sync: its CRM cannot be connected')
		return undefined
	}
}

/** A terminal's Ctrl-C reaches a process twice when its parent passes it on as well. */
const sameSignalMs = 50

/**
 * Returns what aborts at the first signal. It closes; what has not closed after DRAIN_SECONDS and seven eighths of SHUTDOWN_SECONDS is given up. A second signal ends the process at
 * once. Both then end it by that signal: `process.exit` waits for Node's threads, which may wait for a name server.
 */
function endOnSignals(
	{ DRAIN_SECONDS, SHUTDOWN_SECONDS }: Config,
	{ close, giveUp }: { close(): Promise<void>; giveUp(): Promise<void> },
): AbortSignal {
	const ending = new AbortController()
	const patienceMs = (DRAIN_SECONDS + (SHUTDOWN_SECONDS * 7) / 8) * 1_000
	let since: number | undefined
	const end = async (signal: NodeJS.Signals) => {
		if (since !== undefined) {
			if (performance.now() - since > sameSignalMs) dieOf(signal)
			return
		}
		since = performance.now()
		ending.abort()
		setTimeout(() => giveUp().finally(() => dieOf(signal)), patienceMs)
		await close()
		while (isThreadBusy()) await sleep(20)
		process.exit(0)
	}
	process.on('SIGTERM', end).on('SIGINT', end)
	return ending.signal
}

function dieOf(signal: NodeJS.Signals): void {
	process.removeAllListeners(signal)
	process.kill(process.pid, signal)
}

const isThreadBusy = () => process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(name))

const firstSteps = `There is no organization yet. Create one, and a key for it:

  remit organizations create --name "My company"
  remit keys create --organization org_… --scopes all
`

const watching = (url: string, syncId: string) => `
A demo CRM at ${url}${crmPath} has companies, and changes one each minute. A sync brings them every five minutes. See it move at once
(docs/guides/sync.md):

  npx -y pnpm@12.21.0 --silent remit syncs run ${syncId}
`

const exported = (url: string, key: string) => `  export REMIT_BASE_URL=${url} REMIT_API_KEY=${key}`

const plainStart = (url: string, { empty, setupUrl, another }: { empty: boolean; setupUrl?: string; another?: string }) =>
	[
		`Remit serves ${url}`,
		...(empty ? [`\n${firstSteps}`] : []),
		...(another ? [`\nAnother API key of the demo organization, shown this once:\n\n${exported(url, another)}\n`] : []),
		...(setupUrl ? [setUp(setupUrl)] : []),
	].join('\n')

const setUp = (setupUrl: string) => `
Nobody can sign in yet. Make yourself the first admin of the web application:

  ${setupUrl}
`

interface Started {
	readonly syncId: string | undefined
	readonly setupUrl: string | undefined
}

const firstInvoice = {
	currency: 'EUR',
	dueDate: '2026-12-31',
	lineItems: [{ description: 'Workshop', quantity: '1.5', unitPriceCents: 90_000, taxes: [{ label: 'VAT', percent: '19' }] }],
}

function welcome(url: string, key: string, { syncId, setupUrl }: Started): string {
	const authorization = '-H "Authorization: Bearer $REMIT_API_KEY"'
	return `Remit serves ${url}

${setupUrl ? setUp(setupUrl) : ''}
A demo organization was created. Its API key is shown this once; a later start with --new-key makes another one. The SDK, the examples and
the command line read both of these:

${exported(url, key)}

Try:

  curl "$REMIT_BASE_URL/api/invoices?status=overdue" ${authorization}
  curl "$REMIT_BASE_URL/api/time-entries?status=open" ${authorization}
  curl -X POST $REMIT_BASE_URL/api/invoices ${authorization} -H 'Content-Type: application/json' \\
    -d '${JSON.stringify(firstInvoice)}'
${syncId ? watching(url, syncId) : ''}`
}
