// `remit serve`: settings → database → server; SIGTERM and SIGINT let the requests under way finish.
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { byCommand } from './base/origin.ts'
import type { Config } from './config.ts'
import { openDatabase } from './db/drivers/open.ts'
import { tightenDataFolder } from './db/files/data-folder.ts'
import { lockForServer } from './db/files/server-lock.ts'
import { crmPath } from './demo/crm.ts'
import { createDemoKey, createFirstDemo } from './demo/demo.ts'
import { demoWarning } from './hosted/test-mode.ts'
import { openLog } from './log/log.ts'
import { LogSink } from './log/sink.ts'
import { listOrganizations } from './organizations/store.ts'
import { requireEncryptionKey } from './outside/sealed-store.ts'
import { startServer } from './server.ts'

export async function serve(config: Config, options: { demo?: boolean; newKey?: boolean; json?: boolean }): Promise<void> {
	if (!config.DATABASE_URL) setFlagsFromString(smallHeap)
	const stdout = new LogSink(1)
	const log = openLog(config, stdout)
	const lock = config.DATABASE_URL ? undefined : lockForServer(config.DATA_DIR)
	const db = await openDatabase(config, log)
	for (const warning of tightenDataFolder(config.DATA_DIR)) log.warn(warning)
	const server = await requireEncryptionKey(db, config)
		.then(() => startServer({ db, config, log }))
		.catch(async (error) => {
			await db.close()
			throw error
		})
	const empty = (await listOrganizations(db)).length === 0
	const origin = byCommand(server.now(), 'serve')
	const created = empty && options.demo ? (await createFirstDemo(db, origin))?.key : undefined
	const syncId = created && (await connectCrm(config, server.url, created, log))
	const another = created || !options.newKey ? undefined : await createDemoKey(db, origin)
	if (options.newKey && !created && !another) log.warn('--new-key: there is no demo organization; remit keys create makes a key')
	const key = created ?? another
	const warning = await demoWarning(db, config.HOST)
	if (warning) log.warn(warning)
	const url = config.BASE_URL || server.url
	const setupUrl = server.setupPath && `${url}${server.setupPath}`
	// Whoever reads that it serves may end it.
	endOnSignals(config, {
		async close() {
			await server.close()
			lock?.release()
			log.info('closed')
			await stdout.close()
		},
		async giveUp() {
			log.error('what is under way could not be ended in time; the process ends without it')
			await stdout.close()
		},
	})
	if (options.json) stdout.write(`${JSON.stringify({ url, key, syncId, setupUrl })}\n`)
	else if (config.ROLE === 'worker' && !key) stdout.write(`The worker runs; ${server.url} has /health and /ready\n`)
	else stdout.write(`${created ? welcome(url, created, { syncId, setupUrl }) : plainStart(url, { empty, setupUrl, another })}\n`)
	stdout.flush()
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
		const { connectDemo } = await import('./demo/connect.ts')
		return await connectDemo(url, key)
	} catch (err) {
		log.warn({ err }, 'the demo has no sync: its CRM cannot be connected')
		return undefined
	}
}

/** A terminal's Ctrl-C reaches a process twice when its parent passes it on as well. */
const sameSignalMs = 50

/**
 * The first signal closes; what has not closed after DRAIN_SECONDS and seven eighths of SHUTDOWN_SECONDS is given up. A second signal ends the process at
 * once. Both then end it by that signal: `process.exit` waits for Node's threads, which may wait for a name server.
 */
function endOnSignals(
	{ DRAIN_SECONDS, SHUTDOWN_SECONDS }: Config,
	{ close, giveUp }: { close(): Promise<void>; giveUp(): Promise<void> },
): void {
	const patienceMs = (DRAIN_SECONDS + (SHUTDOWN_SECONDS * 7) / 8) * 1_000
	let since: number | undefined
	const end = async (signal: NodeJS.Signals) => {
		if (since !== undefined) {
			if (performance.now() - since > sameSignalMs) dieOf(signal)
			return
		}
		since = performance.now()
		setTimeout(() => giveUp().finally(() => dieOf(signal)), patienceMs)
		await close()
		while (isThreadBusy()) await sleep(20)
		process.exit(0)
	}
	process.on('SIGTERM', end).on('SIGINT', end)
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
