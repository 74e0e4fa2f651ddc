// A real server over a real database for a test file, and a way to ask it that checks every answer against the contract.
import { join } from 'node:path'
import { Remit } from '@remit/sdk'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { pino } from 'pino'
import { inject } from 'vitest'
import { scopes as allScopes, type Scope } from '../src/auth/keys.ts'
import { insertKey } from '../src/auth/store.ts'
import { type Config, readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database.ts'
import { type Database, query } from '../src/db.ts'
import { type DealInput, insertDeal } from '../src/deals/store.ts'
import { insertOrganization } from '../src/organizations/store.ts'
import { startServer } from '../src/server.ts'
import { checkAnswer } from './contract.ts'
import { newDatabase } from './databases.ts'

export interface Answer {
	readonly status: number
	readonly headers: Headers
	readonly text: string
	// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape `checkAnswer` has checked.
	readonly body: any
}

export interface AskOptions {
	/** Sent as JSON; a string or bytes as they are. */
	body?: unknown
	headers?: Record<string, string>
	/** Instead of the tenant's key; null sends none. */
	key?: string | null
}

/** An organization with a key, and both ways to use it: plain HTTP and the SDK. */
export interface Tenant {
	readonly organizationId: string
	readonly key: string
	readonly remit: Remit
	ask(method: string, path: string, options?: AskOptions): Promise<Answer>
	newKey(scopes: readonly Scope[], options?: { expiresAt?: number }): Promise<{ id: string; key: string }>
	newDeal(deal?: Partial<DealInput>): Promise<string>
}

export interface TestServer extends Tenant {
	readonly url: string
	readonly db: Database
	readonly settings: Partial<Config>
	/** What the server takes for now; starts at the real time and stands still. */
	clock: { now: number }
	newTenant(options?: { timeZone?: string; taxRounding?: 'document' | 'line' }): Promise<Tenant>
	close(): Promise<void>
}

export async function startTestServer(settings: Partial<Config> = {}): Promise<TestServer> {
	const database = await newDatabase(inject('database'), inject('postgresUrl'))
	const config = { ...readConfig({ PORT: '0', INVOICING_RATE_LIMIT: '0', NODE_ENV: 'test' }), ...database.settings, ...settings }
	const log = pino({ level: 'silent' })
	const db = await openDatabase(config, log)
	const clock = { now: Date.now() }
	const server = await startServer({ db, config, log, now: () => clock.now })
	const newTenant: TestServer['newTenant'] = async (options = {}) => {
		const { organizationId } = await db.transaction((tx) =>
			insertOrganization(tx, { name: 'Test Ltd', now: clock.now, ...options }),
		)
		const newKey: Tenant['newKey'] = (scopes, more = {}) =>
			db.transaction((tx) => insertKey(tx, organizationId, { name: 'test', scopes, now: clock.now, ...more }))
		const { key } = await newKey(allScopes)
		return {
			organizationId,
			key,
			remit: new Remit({ apiKey: key, baseUrl: server.url }),
			ask: (method, path, request = {}) => ask(server.url, method, path, { key, ...request }),
			newKey,
			newDeal: (deal = {}) => db.transaction((tx) => insertDeal(tx, organizationId, { name: 'Deal', ...deal }, clock.now)),
		}
	}
	return {
		...(await newTenant()),
		url: server.url,
		db,
		settings: database.settings,
		clock,
		newTenant,
		async close() {
			await server.close()
			await database.drop()
		},
	}
}

async function ask(url: string, method: string, path: string, { body, headers = {}, key }: AskOptions): Promise<Answer> {
	const raw = typeof body === 'string' || body instanceof Uint8Array
	const response = await fetch(url + path, {
		method,
		headers: {
			...(key !== null && { authorization: `Bearer ${key}` }),
			...(body !== undefined && { 'content-type': 'application/json' }),
			...headers,
		},
		...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
	})
	const text = await response.text()
	const answer = { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : undefined }
	checkAnswer(method, path, answer)
	return answer
}

/** Keeps everyone else from writing until it is released: what a request under way looks like. */
export async function holdWrites({ settings }: TestServer): Promise<() => Promise<void>> {
	if (settings.DATABASE_URL) {
		const client = new pg.Client(settings.DATABASE_URL)
		await client.connect()
		await client.query('begin')
		await client.query('lock table organizations in exclusive mode')
		return async () => {
			await client.query('rollback')
			await client.end()
		}
	}
	const file = new Sqlite(join(settings.DATA_DIR as string, 'remit.db'))
	file.exec('begin immediate')
	return async () => {
		file.exec('rollback')
		file.close()
	}
}

const stage = query<{ organizationId: string; id: string }, { stage: string }>((knex, key) =>
	knex('deals').where(key).select('stage'),
)

/** The stage of a deal, whose operations come with a later version. */
export const stageOf = async ({ db }: TestServer, organizationId: string, id: string) =>
	(await db.get(stage, { organizationId, id }))?.stage
