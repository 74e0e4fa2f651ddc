// Section `patroni`: a server on a cluster that Patroni watches over, as docs/guides/scale.md says, while the machine of the primary dies or freezes. It needs
// the packages patroni, etcd-server, haproxy and postgresql-15.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Run } from './context.ts'
import { withDatabase } from './databases.ts'
import { driverCore, pin, startServer } from './processes.ts'
import { print } from './report.ts'
import { writeFiles } from './scale/files.ts'
import { loseThePrimary, PatroniCluster } from './scale/patroni.ts'
import { startReceiver } from './scale/receiver.ts'
import { ofTheBench } from './scale/stack.ts'
import { newKeys, subscribe } from './stack.ts'

const organizations = 3

export async function patroni(run: Run): Promise<void> {
	const missing = ['patroni', 'etcd', 'haproxy'].filter((name) => spawnSync(name, ['--version']).error)
	if (missing.length > 0) return print(`Patroni: skipped, there is no ${missing.join(', ')} on this machine\n`)
	// What it starts has all cores.
	pin('0,1')
	const files = await writeFiles(randomBytes(32).toString('base64'))
	const cluster = await PatroniCluster.start(files)
	const { ENCRYPTION_KEYS = '', DATA_DIR = '' } = files.env
	const env = { ...ofTheBench, DATABASE_URL: cluster.url(), ENCRYPTION_KEYS, DATA_DIR, PORT: '0' }
	const args = ['--max-semi-space-size=16', join(run.server, 'bin/remit.js'), 'serve', '--json']
	const server = await startServer('patroni', args, env, '0,1')
	const keys = await withDatabase({ url: cluster.url() }, (db) => newKeys(db, organizations))
	const receiver = await startReceiver()
	for (const key of keys) await subscribe(server.url, key, receiver.url)
	await loseThePrimary(run, cluster, { url: server.url, keys, receiver })
	await server.stop()
	await cluster.stop()
	pin(driverCore)
}
