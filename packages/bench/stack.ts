// Section `stack`: Remit as docs/guides/scale.md sets it up, on this machine: throughput, a restart of all servers, and the death of
// each part, under load. It needs the packages haproxy, pgbouncer, redis-server and postgresql.
import { spawnSync } from 'node:child_process'
import { createKey } from '../server/src/accounts/api-keys/store.ts'
import { createOrganization } from '../server/src/introductions.ts'
import { scopes } from '../server/src/platform/auth/keys.ts'
import { bySystem } from '../server/src/platform/base/origin.ts'
import type { Database } from '../server/src/platform/db/database.ts'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import type { Load } from './load.ts'
import { driverCore, pin } from './processes.ts'
import { print } from './report.ts'
import { Clients } from './scale/clients.ts'
import { killEach } from './scale/kills.ts'
import { limits } from './scale/limits.ts'
import { manyWrite } from './scale/many.ts'
import { startReceiver } from './scale/receiver.ts'
import { rolling } from './scale/rolling.ts'
import { Stack } from './scale/stack.ts'
import { throughput } from './scale/throughput.ts'

const programs = ['haproxy', 'pgbouncer', 'redis-server']
/** Those whose webhooks are received, those of the limits, those that creates are measured in, and those that write without a standby. */
const counts = { received: 3, limits: 3, creates: 50, many: 260 }

export async function stack(run: Run): Promise<void> {
	const missing = programs.filter((name) => spawnSync(name, ['-v']).error)
	if (missing.length > 0) return print(`Stack: skipped, there is no ${missing.join(', ')} on this machine\n`)
	// What it starts has all cores.
	pin('0,1')
	const stack = await Stack.start(run.server)
	const count = counts.received + counts.limits + counts.creates + counts.many
	const keys = await withDatabase({ url: stack.databaseUrl() }, (db) => newKeys(db, count))
	const own = keys.splice(0, counts.received)
	const limited = keys.splice(0, counts.limits)
	const many = keys.splice(0, counts.many)
	const receiver = await startReceiver()
	for (const key of own) await subscribe(stack.url, key, receiver.url)
	const first = new Clients(stack.url, own.slice(0, 1))
	first.begin()
	await first.first(100)
	await first.end()
	const gets: Load = { method: 'GET', paths: first.written.map(({ id }) => `/api/invoices/${id}`), keys: own.slice(0, 1) }
	await rolling(stack, own, receiver, gets)
	await killEach(run, stack, own, receiver)
	await manyWrite(stack, many)
	await limits(stack, limited)
	await throughput(run, stack, keys, gets)
	await stack.stop()
	pin(driverCore)
}

/** A key of each organization. */
export async function newKeys(db: Database, count: number): Promise<string[]> {
	const origin = bySystem(Date.now())
	const keys: string[] = []
	for (let n = 0; n < count; n++) {
		await db.transaction(async (tx) => {
			const { id } = await createOrganization(tx, origin, { name: `Organization ${n}`, defaultCurrency: 'EUR' })
			keys.push((await createKey({ db: tx, origin }, id, { name: 'bench', scopes })).key)
		})
	}
	return keys
}

export async function subscribe(url: string, key: string, receiver: string): Promise<void> {
	const response = await fetch(`${url}/webhooks/endpoints`, {
		method: 'POST',
		headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
		body: JSON.stringify({ url: receiver, eventTypes: ['invoice.*'] }),
	})
	if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`)
}
