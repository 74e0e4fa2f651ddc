// The least that bringing companies into SQLite can cost: pages that are fetched and parsed, and prepared inserts of the rows that Remit
// stores (the company, its event, its entry of the audit log and its link), in the same chunks. It checks, maps and decides nothing.
import { randomBytes } from 'node:crypto'
import { loadSqlite } from '../server-modules.ts'

const [file = '', url = '', organizationId = ''] = process.argv.slice(2)
const chunk = 25

interface External {
	readonly id: string
	readonly name: string
	readonly domain: string
	readonly phone: string
	readonly address: { readonly city: string }
}

const Sqlite = loadSqlite()
const db = new Sqlite(file)
db.pragma('journal_mode = WAL')
db.pragma('synchronous = FULL')
db.pragma('wal_autocheckpoint = 16000')

/** An insert of a row with these columns. */
const insertOf = (table: string, columns: readonly string[]) =>
	db.prepare(
		`insert into ${table} (${columns.map((name) => `"${name}"`).join(', ')}) values (${columns.map(() => '?').join(', ')})`,
	)

const own = ['organizationId', 'id']
const companies = insertOf('companies', [
	...own,
	...['name', 'domain', 'phone', 'billingCity', 'sortName', 'searchText', 'createdAt', 'updatedAt', 'version'],
])
const events = insertOf('events', [...own, ...['type', 'resourceType', 'resourceId', 'timestamp', 'sequence', 'actor', 'data']])
const audit = insertOf('audit_log', [
	...own,
	...['createdAt', 'action', 'resourceType', 'resourceId', 'operation', 'actorType', 'actorId', 'after'],
])
const links = insertOf('sync_links', [
	...['organizationId', 'connectionId', 'object', 'kind', 'recordId', 'externalId', 'externalHash', 'internalHash'],
	...['lastSeen', 'lastSeenAt', 'createdAt', 'updatedAt'],
])

let count = 0
const idOf = (prefix: string) => `${prefix}_${(++count).toString(36).padStart(9, '0')}${randomBytes(8).toString('hex')}`
const actor = JSON.stringify({ type: 'sync', id: 'run_floor' })

function write(records: readonly External[]): void {
	const now = Date.now()
	for (const record of records) {
		const { name, domain, phone, address } = record
		const id = idOf('cmp')
		const company = {
			id,
			organizationId,
			name,
			domain,
			phone,
			billingCity: address.city,
			createdAt: now,
			updatedAt: now,
			version: 1,
		}
		const json = JSON.stringify(company)
		companies.run(organizationId, id, name, domain, phone, address.city, name.toLowerCase(), `${name} ${domain}`, now, now, 1)
		events.run(organizationId, idOf('evt'), 'company.created', 'company', id, now, 1, actor, json)
		audit.run(organizationId, idOf('aud'), now, 'created', 'company', id, 'syncs.run', 'sync', 'run_floor', json)
		links.run(
			organizationId,
			'con_floor',
			'companies',
			'company',
			id,
			record.id,
			'hash',
			'hash',
			JSON.stringify(record),
			now,
			now,
			now,
		)
	}
}

const commit = db.transaction(write)

for (let page = 1; ; page++) {
	const answer = await fetch(`${url}/companies?page=${page}`)
	const { items } = JSON.parse(await answer.text()) as { items: External[] }
	if (items.length === 0) break
	for (let from = 0; from < items.length; from += chunk) {
		commit.immediate(items.slice(from, from + chunk))
		await new Promise((resolve) => setImmediate(resolve))
	}
}
db.close()
