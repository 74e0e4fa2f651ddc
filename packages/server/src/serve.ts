// `remit serve`: settings → database → server; SIGTERM and SIGINT let the requests under way finish.
import { readConfig } from './config.ts'
import { openDatabase } from './db/open.ts'
import { createDemo } from './demo/demo.ts'
import { openLog } from './log/log.ts'
import { LogSink } from './log/sink.ts'
import { listOrganizations } from './organizations/store.ts'
import { startServer } from './server.ts'

export async function serve(options: { demo?: boolean; json?: boolean }): Promise<void> {
	const config = readConfig()
	const stdout = new LogSink(1)
	const log = openLog(config.LOG_LEVEL, stdout)
	const db = await openDatabase(config, log)
	const server = await startServer({ db, config, log }).catch(async (error) => {
		await db.close()
		throw error
	})
	const empty = (await listOrganizations(db)).length === 0
	const key = empty && options.demo ? (await createDemo(db, Date.now())).key : undefined
	const url = config.BASE_URL || server.url
	if (options.json) stdout.write(`${JSON.stringify({ url, key })}\n`)
	else stdout.write(`${key ? welcome(url, key) : `Remit serves ${url}${empty ? `\n\n${firstSteps}` : ''}`}\n`)
	stdout.flush()

	let closing = false
	const close = async () => {
		if (closing) return
		closing = true
		await server.close()
		log.info('closed')
		await stdout.close()
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
