// `remit serve`: settings → database → server; SIGTERM and SIGINT let the requests under way finish.
import { type DestinationStream, pino } from 'pino'
import { readConfig } from './config.ts'
import { openDatabase } from './db/open.ts'
import { createDemo } from './demo/demo.ts'
import { listOrganizations } from './organizations/store.ts'
import { startServer } from './server.ts'

export async function serve(options: { demo?: boolean; json?: boolean }): Promise<void> {
	const config = readConfig()
	// pino writes log lines in the background; they are flushed every second, and when the process ends.
	const destination: DestinationStream & { flushSync(): void } = pino.destination({ sync: false, minLength: 16_000 })
	const log = pino({ level: config.LOG_LEVEL, base: null }, destination)
	const flusher = setInterval(() => destination.flushSync(), 1_000).unref()
	const db = await openDatabase(config, log)
	const server = await startServer({ db, config, log }).catch(async (error) => {
		await db.close()
		throw error
	})
	const empty = (await listOrganizations(db)).length === 0
	const key = empty && options.demo ? (await createDemo(db, Date.now())).key : undefined
	const url = config.BASE_URL || server.url
	if (options.json) console.log(JSON.stringify({ url, key }))
	else console.log(key ? welcome(url, key) : `Remit serves ${url}${empty ? `\n\n${firstSteps}` : ''}`)

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

const firstSteps = `There is no organization yet. Create one, and a key for it:

  remit organizations create --name "My company"
  remit keys create --organization org_… --scopes all
`

function welcome(url: string, key: string): string {
	const authorization = `-H 'Authorization: Bearer ${key}'`
	return `Remit serves ${url}

A demo organization was created. Its API key is shown this once:

  ${key}

Try:

  curl '${url}/api/invoices?status=overdue' ${authorization}
  curl '${url}/api/time-entries?status=open' ${authorization}
  curl -X POST ${url}/api/invoices ${authorization} -H 'Content-Type: application/json' -d '{"totalCents": 12500, "dueDate": "2026-12-31"}'
`
}
