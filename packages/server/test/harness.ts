// A real server over a real database for a test file. `ask` sends a request and checks every answer against the contract.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Remit } from '@remit/sdk'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { pino } from 'pino'
import { type Dispatcher, request } from 'undici'
import { inject, vi } from 'vitest'
import { createKey } from '../src/accounts/api-keys/store.ts'
import { createPerson } from '../src/accounts/people/store.ts'
import { beginSession } from '../src/accounts/sessions/store.ts'
import { createDeal } from '../src/billing/deals/store.ts'
import { createTimeEntry } from '../src/billing/time-entries/store.ts'
import { type Config, readConfig } from '../src/config.ts'
import type {
	DealCreate,
	OrganizationSettingsUpdate,
	ResourceKind,
	TimeEntryCreate,
	UserRole,
} from '../src/generated/contract.ts'
import { createOrganization } from '../src/introductions.ts'
import { scopes as allScopes, type Scope } from '../src/platform/auth/keys.ts'
import { hashPassword } from '../src/platform/auth/passwords.ts'
import { newToken } from '../src/platform/auth/session-cookie.ts'
import { newId } from '../src/platform/base/ids.ts'
import { bySystem } from '../src/platform/base/origin.ts'
import { operations, Routes } from '../src/platform/contract/routes.ts'
import type { Database, Db } from '../src/platform/db/database.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { type WriteContext, withoutOrder } from '../src/platform/db/write-context.ts'
import type { Lookup } from '../src/platform/outside/resolver.ts'
import { startServer } from '../src/server.ts'
import { checkAnswer } from './contract.ts'
import { newDatabase, noTimeLimits } from './databases.ts'
import { checkEvents } from './events.ts'
import { encryptionKey, secret, watch, watchAnswers, watchLog } from './leaks.ts'

export interface Answer {
	readonly status: number
	readonly headers: Headers
	/** Empty when the answer is a file. */
	readonly text: string
	readonly bytes: Uint8Array
	/** Absent when the answer is not JSON. */
	// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape `checkAnswer` has checked.
	readonly body: any
}

export interface AskOptions {
	/** Sent as JSON; a string or bytes are sent as they are. */
	body?: unknown
	headers?: Record<string, string>
	/** A key to send instead of the tenant's; null sends none. */
	key?: string | null
}

/** An organization with a key, and two ways to use it: plain HTTP and the SDK. */
export interface Tenant {
	readonly organizationId: string
	readonly key: string
	readonly remit: Remit
	readonly db: Database
	/** The server's clock: it starts at the real time and stands still. */
	readonly clock: { now: number }
	/** With the key; an operation that only a session may call, with that of an admin. */
	ask(method: string, path: string, options?: AskOptions): Promise<Answer>
	/** Signs somebody in without a password. */
	newPerson(role?: UserRole, email?: string): Promise<TestPerson>
	newKey(
		scopes: readonly Scope[],
		options?: { expiresAt?: number; resources?: ResourceKind[] },
	): Promise<{ id: string; key: string }>
	/** The context to write the organization's records without a request. */
	writing(tx: Db, now?: number): WriteContext
	newDeal(deal?: Partial<DealCreate>): Promise<string>
	/** Creates a time entry of a billable hour, for a new deal unless `entry` names one. */
	newTimeEntry(entry?: Partial<TimeEntryCreate>): Promise<string>
	/** Runs every job of the server that is due by its clock. */
	runJobs(): Promise<void>
}

/** A person with a session. */
export interface TestPerson {
	readonly id: string
	readonly email: string
	/** The header `Cookie` of the session. */
	readonly cookie: string
	/** As `ask` of the tenant, with the session. */
	ask(method: string, path: string, options?: AskOptions): Promise<Answer>
}

export interface TestServer extends Tenant {
	readonly url: string
	readonly metricsUrl: string | undefined
	/** The lines of its log. */
	readonly logged: readonly string[]
	readonly settings: Partial<Config>
	newTenant(settings?: OrganizationSettingsUpdate): Promise<Tenant>
	close(): Promise<void>
}

/** Of every person that `newPerson` makes. */
export const personPassword = secret('password')
const personHash = hashPassword(personPassword, 'tests')

const routes = new Routes(operations)
const operationOf = (method: string, path: string) =>
	routes.match(path.split('?')[0] as string)?.methods.get(method === 'HEAD' ? 'GET' : method)

/** Resolves `.example` hosts to this machine, which the servers may call, `private.example` to a private network, others not. */
const testLookup: Lookup = async (name) => {
	if (name === 'private.example') return [{ address: '10.0.0.7', family: 4 }]
	if (name.endsWith('.example') || name === 'localhost') return [{ address: '127.0.0.1', family: 4 }]
	throw new Error(`${name} has no address`)
}

export async function startTestServer(settings: Partial<Config> = {}, lookup = testLookup): Promise<TestServer> {
	const database = await newDatabase(inject('database'), inject('template'))
	const mail = mkdtempSync(join(tmpdir(), 'remit-mail-'))
	const effective = {
		...database.settings,
		...noTimeLimits,
		// Servers on one database share the key, so that each opens the client links of the others.
		ENCRYPTION_KEYS: encryptionKey(),
		SMTP_URL: `file:${mail}`,
		...settings,
	}
	const config = {
		...readConfig({
			EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
			PORT: '0',
			INVOICING_RATE_LIMIT: '0',
			MAIL_DAILY_LIMIT: '0',
			INTEGRATION_RATE_LIMIT: '0',
			GUESS_RATE_LIMIT: '0',
			REQUESTS_UNDER_WAY: '0',
			WEBHOOK_HOST_RATE: '0',
			PROVIDER_XERO_CLIENT_ID: 'client',
			PROVIDER_XERO_CLIENT_SECRET: secret('of-the-client'),
			NODE_ENV: 'test',
			// Whether the pages are built must change no test of the server.
			WEB: 'off',
			// A busy machine is no overload.
			SHED_ABOVE_DELAY_MS: '60000',
		}),
		...effective,
	}
	const logged: string[] = []
	const write = (line: string) => {
		logged.push(line)
		watchLog(line)
	}
	const log = pino({ level: 'info', base: null }, { write })
	const db = await openDatabase(config, log)
	const clock = { now: Date.now() }
	const server = await startServer({ db, config, log, now: () => clock.now, lookup })
	const watched = [server.url, server.metricsUrl].map((url) => (url === undefined ? undefined : watchAnswers(url)))
	const newTenant: TestServer['newTenant'] = async (overrides = {}) => {
		const settings = { name: 'Test Ltd', ...overrides }
		const organization = await db.transaction((tx) => createOrganization(tx, bySystem(clock.now), settings))
		const { id: organizationId } = organization
		const writing: Tenant['writing'] = (tx, now = clock.now) => ({ db: tx, origin: withoutOrder(bySystem(now)), organization })
		const newKey: Tenant['newKey'] = (scopes, more = {}) =>
			db.transaction((tx) => createKey(writing(tx), organizationId, { name: 'test', scopes, ...more }))
		const { key } = await newKey(allScopes)
		const newPerson: Tenant['newPerson'] = async (role = 'admin', email = `${newId('usr')}@people.example`.toLowerCase()) => {
			const token = newToken()
			const input = { organizationId, email, name: 'Ada', role, passwordHash: await personHash }
			const { id } = await db.transaction(async (tx) => {
				const user = await createPerson(writing(tx), input)
				await beginSession(writing(tx), user, { token, userAgent: 'test' })
				return user
			})
			const cookie = `remit=${token}`
			const withCookie = ({ headers, ...request }: AskOptions) => ({ key: null, ...request, headers: { cookie, ...headers } })
			return { id, email, cookie, ask: (method, path, request = {}) => ask(server.url, method, path, withCookie(request)) }
		}
		const newDeal: Tenant['newDeal'] = async (deal = {}) => {
			const input = { name: 'Deal', currency: 'USD', ...deal }
			return (await db.transaction((tx) => createDeal(writing(tx), input))).id
		}
		const newTimeEntry: Tenant['newTimeEntry'] = async (entry = {}) => {
			const dealId = entry.dealId ?? (await newDeal())
			const input = { startedAt: clock.now - 3_600_000, durationSeconds: 3_600, hourlyRateCents: 10_000, ...entry, dealId }
			return (await db.transaction((tx) => createTimeEntry(writing(tx), input))).id
		}
		return {
			organizationId,
			key,
			db,
			clock,
			remit: new Remit({ apiKey: key, baseUrl: server.url, maxRetries: 0 }),
			ask: async (method, path, request = {}) => {
				if (request.key === undefined && operationOf(method, path)?.sessionOnly)
					return (await newPerson()).ask(method, path, request)
				return ask(server.url, method, path, { key, ...request })
			},
			newPerson,
			writing,
			newKey,
			newDeal,
			newTimeEntry,
			runJobs: async () => server.drainJobs?.(),
		}
	}
	return {
		...(await newTenant()),
		url: server.url,
		metricsUrl: server.metricsUrl,
		logged,
		settings: effective,
		newTenant,
		async close() {
			try {
				await Promise.all([checkEvents(db), server.close()])
			} finally {
				for (const unwatch of watched) unwatch?.()
				await database.drop()
				watchMails(mail)
				rmSync(mail, { recursive: true })
			}
		},
	}
}

/** Looks through the mails in a folder, whose lines are cut in two ways. */
function watchMails(folder: string): void {
	for (const name of readdirSync(folder)) {
		const text = readFileSync(join(folder, name), 'latin1')
		watch(`the mail ${name}`, text.replaceAll('=\r\n', ''))
		watch(`the mail ${name}`, text.replaceAll('\r\n', ''))
	}
}

/** The name of a browser, with which a view of an invoice counts. */
export const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

async function ask(url: string, method: string, path: string, { body, headers = {}, key }: AskOptions): Promise<Answer> {
	const raw = typeof body === 'string' || body instanceof Uint8Array
	// Takes a third of the CPU of `fetch`, of which a run of all tests has minutes. Follows no redirect.
	const response = await request(url + path, {
		method: method as Dispatcher.HttpMethod,
		headers: {
			accept: '*/*',
			'user-agent': 'node',
			...(key !== null && { authorization: `Bearer ${key}` }),
			...(body !== undefined && { 'content-type': 'application/json' }),
			// As a browser says of a page of the server.
			...((key === null || operationOf(method, path)?.public) && { 'sec-fetch-site': 'same-origin', 'user-agent': browser }),
			...headers,
		},
		...(body !== undefined && { body: raw ? (body as string) : JSON.stringify(body) }),
	})
	const answered = new Headers()
	for (const [name, value] of Object.entries(response.headers)) for (const one of [value ?? []].flat()) answered.append(name, one)
	const bytes = new Uint8Array(await response.body.arrayBuffer())
	const isJson = /[/+]json/.test(answered.get('content-type') ?? '')
	const text = isJson ? new TextDecoder().decode(bytes) : ''
	const answer = { status: response.statusCode, headers: answered, text, bytes, body: text ? JSON.parse(text) : undefined }
	checkAnswer(method, path, answer)
	return answer
}

/** Blocks writes until the returned function releases them, so that a request stays under way. PostgreSQL blocks one table. */
export async function holdWrites({ settings }: TestServer, table = 'organizations'): Promise<() => Promise<void>> {
	if (settings.DATABASE_URL) {
		const client = new pg.Client(settings.DATABASE_URL)
		await client.connect()
		await client.query('begin')
		await client.query(`lock table ${table} in exclusive mode`)
		return async () => {
			await client.query('rollback')
			await client.end()
		}
	}
	const file = new Sqlite(join(settings.DATA_DIR as string, 'remit.db'), { timeout: 0 })
	await vi.waitFor(() => file.exec('begin immediate'), { timeout: 5_000, interval: 5 })
	return async () => {
		file.exec('rollback')
		file.close()
	}
}
