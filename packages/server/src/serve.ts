// `remit serve`: settings → database → server; SIGTERM and SIGINT let the requests under way finish.
import { type DestinationStream, pino } from 'pino'
import { readConfig } from './config.ts'
import { openDatabase } from './database.ts'
import type { Database } from './db.ts'
import { createDemo } from './demo/demo.ts'
import { listOrganizations } from './organizations/store.ts'
import { startServer } from './server.ts'

export async function serve(options: { demo?: boolean; json?: boolean }): Promise<void> {
	const config = readConfig()
	// Lines are written in the background, and flushed when the process ends.
	const destination: DestinationStream & { flushSync(): void } = pino.destination({ sync: false, minLength: 4096 })
	const log = pino({ level: config.LOG_LEVEL, timestamp: pino.stdTimeFunctions.isoTime }, destination)
	const flusher = setInterval(() => destination.flushSync(), 1_000).unref()
	const db = await openDatabase(config, log)
	const server = await startServer({ db, config, log }).catch(async (error) => {
		await db.close()
		throw error
	})
	const key = options.demo ? await demoKey(db) : undefined
	const url = config.BASE_URL || server.url
	if (options.json) console.log(JSON.stringify({ url, key }))
	else console.log(welcome(url, key))

	let closing = false
	const close = async () => {
		if (closing) return
		closing = true
		clearInterval(flusher)
		await server.close()
		log.info('closed')
		destination.flushSync()
		process.exit(0)
	}
	process.on('SIGTERM', close).on('SIGINT', close)
}

/** The key of a new demo organization; undefined when the database is in use already. */
async function demoKey(db: Database): Promise<string | undefined> {
	if ((await listOrganizations(db)).length > 0) return undefined
	return (await createDemo(db, Date.now())).key
}

function welcome(url: string, key: string | undefined): string {
	if (!key) return `Remit serves ${url}`
	const authorization = `-H 'Authorization: Bearer ${key}'`
	return `Remit serves ${url}

A demo organization was created. Its API key is shown this once:

  ${key}

Try:

  curl ${url}/api/invoices?status=overdue ${authorization}
  curl '${url}/api/companies?search=acme' ${authorization}
  curl -X POST ${url}/api/invoices ${authorization} -H 'Content-Type: application/json' -d '{"totalCents": 12500, "dueDate": "2026-12-31"}'
`
}
