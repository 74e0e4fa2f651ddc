// A process that locks a company in a transaction, says so, and goes no further.
import { pino } from 'pino'
import { companies } from '../src/billing/companies/store.ts'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'

const { settings, organizationId, id } = JSON.parse(process.argv[2] as string)
const db = await openDatabase({ ...readConfig({}), ...settings }, pino({ level: 'silent' }))
await db.transaction(async (tx) => {
	await companies.lock(tx, organizationId, id)
	console.log('locked')
	await new Promise(() => {})
})
