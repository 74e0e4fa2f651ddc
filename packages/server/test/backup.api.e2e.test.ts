// Backups by docs/guides/backup.md, whose commands this runs: made under load, restored elsewhere, and compared by what callers see.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit as Client } from '@remit/sdk'
import Sqlite from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import { newDatabase, type TestDatabase } from './databases.ts'
import { blocksOf, GuideMachine } from './guide.ts'
import { needs } from './needs.ts'
import { expectRefusal, Remit, type Served } from './remit.ts'
import { Sink } from './sink.ts'

const isSqlite = inject('database') === 'sqlite'
const folder = mkdtempSync(join(tmpdir(), 'remit-backup-'))
const running = { INVOICING_RATE_LIMIT: '0', EGRESS_ALLOW_CIDRS: '127.0.0.0/8', SMTP_URL: 'none' }

let database: TestDatabase
let sink: Sink
let remit: Remit
let machine: GuideMachine
let server: Served
let key: string
/** What the server answered before the backup. */
let before: Awaited<ReturnType<typeof look>>

beforeAll(async () => {
	database = await newDatabase(inject('database'), inject('template'))
	sink = await new Sink({ everyLibrary: false }).start()
	const env = isSqlite ? database.settings : { ...database.settings, DATA_DIR: join(folder, 'data') }
	remit = new Remit({ ...env }, folder)
	machine = new GuideMachine(folder, { ...env })
	key = (await remit.json(['demo'])).key
	server = await remit.serve(running)
	await prepare(server.url)
	before = await look(server.url)
})
afterEach(() => {
	sink.received.length = 0
})
afterAll(async () => {
	remit.stop()
	await sink.stop()
	await database.drop()
	rmSync(folder, { recursive: true, force: true })
})

const client = (url: string) => new Client({ apiKey: key, baseUrl: url })

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
	const found: T[] = []
	for await (const item of list) found.push(item)
	return found
}

const repeated = (url: string) =>
	fetch(`${url}/api/companies`, {
		method: 'POST',
		headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': 'before-the-backup' },
		body: '{"name": "Kept answer GmbH"}',
	}).then((answer) => answer.text())

async function prepare(url: string): Promise<void> {
	await sink.subscribe(client(url), 'company.created')
	await repeated(url)
	await sink.events(1)
	const [invoice] = await all(client(url).invoices.list({ status: 'sent' }))
	await client(url).invoices.clientLink.create(invoice?.id as string)
}

/** Counts, sums, searches, and what only the encryption key opens. */
async function look(url: string) {
	const invoices = (await all(client(url).invoices.list())).filter(({ notes }) => notes !== 'meanwhile')
	const [shared] = await all(client(url).invoices.list({ status: 'sent' }))
	const link = (await client(url).invoices.clientLink.get(shared?.id as string)).url
	const page = await fetch(url + new URL(link).pathname)
	return {
		count: invoices.length,
		sum: invoices.reduce((sum, { totalCents }) => sum + totalCents, 0),
		due: invoices.reduce((sum, { amountDueCents }) => sum + amountDueCents, 0),
		found: (await all(client(url).companies.list({ search: 'kept answ' }))).map(({ name }) => name),
		page: [page.status, /INV-\d+/.exec(await page.text())?.[0]],
		path: new URL(link).pathname,
		answer: await repeated(url),
	}
}

/** Writes invoices until it is stopped; returns the ids that were answered. */
function writeMeanwhile(url: string) {
	const answered: string[] = []
	let stopped = false
	const write = async () => {
		while (!stopped) answered.push((await client(url).invoices.create({ notes: 'meanwhile' })).id)
	}
	const writers = Promise.all(Array.from({ length: 4 }, write))
	return {
		answered,
		async stop() {
			stopped = true
			await writers
		},
	}
}

/** Expects a server on the restored data to answer as before, to sign with the old secret, and to go on writing. */
async function expectAsBefore(restored: Remit, written: readonly string[]): Promise<void> {
	const { url, end } = await restored.serve(running)
	expect(await look(url)).toEqual(before)
	const ids = (await all(client(url).invoices.list())).map(({ id }) => id)
	expect(ids).toEqual(expect.arrayContaining([...written]))
	sink.received.length = 0
	await client(url).companies.create({ name: 'After the restore' })
	expect((await sink.events(1)).at(-1)).toMatchObject({ data: { name: 'After the restore' } })
	expect(sink.problems).toEqual([])
	expect(await end('SIGTERM')).toEqual([0, null])
}

const latest = () => join(folder, 'var/backups/remit', readdirSync(join(folder, 'var/backups/remit')).sort().at(-1) as string)
describe('the guide', () => {
	it('backs a server up while it writes, and restores all that it had answered', { timeout: 90_000 }, async () => {
		if (!isSqlite) return
		const [backup = '', nightly = '', elsewhere = '', inPlace = ''] = blocksOf('backup', 'SQLite')
		const writing = writeMeanwhile(server.url)
		await expect.poll(() => writing.answered.length, { timeout: 20_000 }).toBeGreaterThan(20)
		const written = [...writing.answered]
		const copied = await machine.run([backup, elsewhere])
		await writing.stop()
		expect(copied).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Northlight Studio') })
		const restored = new Remit({ DATA_DIR: join(folder, 'var/lib/remit-restored') }, folder)
		await expectAsBefore(restored, written)

		const kept = `folder='${latest()}'`
		expectRefusal(await machine.run([kept, inPlace]), /a server is running on/)
		expect(await server.end('SIGTERM')).toEqual([0, null])
		expect(await machine.run([kept, inPlace])).toMatchObject({ code: 0, stderr: '', stdout: /What was there is in .*replaced-/ })
		await expectAsBefore(remit, written)

		expect(JSON.parse((await machine.run([nightly])).stdout)).toMatchObject({ migration: migrations.length })
		server = await remit.serve(running)
	})

	needs('pgDump').it('tells how to dump and restore PostgreSQL, and keeps the key', { timeout: 90_000 }, async () => {
		if (isSqlite) return
		const [backup = '', restore = ''] = blocksOf('backup', 'PostgreSQL')
		const copied = await machine.run([backup])
		expect(copied).toMatchObject({ code: 0, stderr: '' })
		const dump = /pg_dump .*/.exec(copied.stdout)?.[0]
		expect(dump?.replaceAll("'", '')).toBe(
			/pg_dump .*/.exec(backup)?.[0].replace('"$folder/remit.dump"', `${latest()}/remit.dump`),
		)
		await server.end('SIGTERM')
		const DATABASE_URL = (remit.env.DATABASE_URL as string).replace(/\/[^/]*$/, '/remit_restored')
		const DATA_DIR = join(folder, 'restored')
		const name = `remit_test_restored_${process.pid}`
		const here = restore.replaceAll('remit_restored', name)
		const done = await machine.run([`folder='${latest()}'`, here], { DATA_DIR })
		expect(done).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('pg_restore') })
		try {
			const restored = new Remit({ DATA_DIR, DATABASE_URL: DATABASE_URL.replace('remit_restored', name) }, folder)
			await expectAsBefore(restored, [])
		} finally {
			execFileSync('dropdb', [`--maintenance-db=${remit.env.DATABASE_URL}`, '--force', name])
		}
		server = await remit.serve(running)
	})
})

describe('a backup', () => {
	it('is a private folder with a manifest, which shows no password and no key', async () => {
		const target = join(folder, 'one')
		const made = await remit.json(['backup', target])
		const files = isSqlite ? ['encryption-key', 'manifest.json', 'remit.db'] : ['encryption-key', 'manifest.json']
		expect(readdirSync(target).sort()).toEqual(files)
		expect(statSync(target).mode & 0o777).toBe(0o700)
		for (const name of files) expect(statSync(join(target, name)).mode & 0o777).toBe(0o600)
		const { run, folder: _, ...manifest } = made
		expect(JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8'))).toEqual(manifest)
		expect(manifest).toMatchObject({ migration: migrations.length, encryptionKey: 'file', database: inject('database') })
		expect(run).toHaveLength(isSqlite ? 0 : 1)
		expect(JSON.stringify(made)).not.toContain(readFileSync(join(target, 'encryption-key'), 'utf8'))
		expect(JSON.stringify(made)).not.toContain('postgres://')
	})

	it('names PostgreSQL itself for pg_dump where a pooler is in between', async () => {
		if (isSqlite) return
		const made = await remit.json(['backup', join(folder, 'pooled')], { DATABASE_POOLER: 'transaction' })
		expect(made.run).toEqual([expect.stringMatching(/^pg_dump .* '<URL of PostgreSQL itself, not of the pooler>'$/)])
	})

	it('never touches a folder that has files, and leaves nothing behind when it fails', async () => {
		writeFileSync(join(folder, 'note'), '')
		const names = readdirSync(folder).sort()
		expectRefusal(await remit.run(['backup', folder]), /is not empty/)
		expectRefusal(await remit.run(['backup', join(folder, 'note/below')]), /the backup failed: E/)
		if (isSqlite) expectRefusal(await remit.run(['backup', join(folder, 'b')], { DATA_DIR: join(folder, 'none') }), /no database/)
		expect(readdirSync(folder).sort()).toEqual(names)
	})
})

describe('a restore', () => {
	it('refuses a folder that is no backup, is damaged, or is newer, and one over records', async () => {
		const target = join(folder, 'two')
		await remit.json(['backup', target])
		const env = { DATA_DIR: join(folder, 'fresh') }
		const restore = (from: string, more: Record<string, string> = env) => remit.run(['restore', from], more)
		expectRefusal(await restore(folder), /is not a backup/)
		if (isSqlite) {
			expectRefusal(await restore(target, {}), /a server is running/)
			await server.end('SIGTERM')
			expectRefusal(await restore(target, {}), /has records.*--force/)
			server = await remit.serve(running)
		}
		const file = join(target, 'manifest.json')
		const manifest = readFileSync(file, 'utf8')
		writeFileSync(file, JSON.stringify({ ...JSON.parse(manifest), migration: migrations.length + 1 }))
		expectRefusal(await restore(target), /this version of Remit knows/)
		writeFileSync(file, manifest)
		writeFileSync(join(target, 'encryption-key'), 'another')
		expectRefusal(await restore(target), /encryption-key is not as it was backed up/)
		expect(readdirSync(folder)).not.toContain('fresh')
	})

	it('takes the place of the empty database of a first start', async () => {
		if (!isSqlite) return
		const target = join(folder, 'three')
		await remit.json(['backup', target])
		const fresh = new Remit({ DATA_DIR: join(folder, 'first') }, folder)
		await (await fresh.serve()).end('SIGKILL')
		expect(await fresh.json(['restore', target])).toMatchObject({ replaced: expect.stringContaining('replaced-') })
		expect(await fresh.json(['organizations', 'list'])).toHaveLength(1)
		const restored = new Sqlite(join(folder, 'first/remit.db'), { readonly: true })
		expect(restored.pragma('integrity_check', { simple: true })).toBe('ok')
		restored.close()
	})
})
