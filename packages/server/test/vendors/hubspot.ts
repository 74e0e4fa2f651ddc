// A fake of the part of HubSpot's API that reads and writes companies.
// https://developers.hubspot.com/docs/api-reference/2026-03/crm/objects/companies

import { secret } from '../leaks.ts'
import { errorReply, invalid, invalidProperty, notFound } from './hubspot-errors.ts'
import { companyProperties, type Property, propertiesOf } from './hubspot-properties.ts'
import { searchIn } from './hubspot-search.ts'
import type { Change, Json, Stored } from './records.ts'
import { Allowance, type Call, jsonOf, Refusal, type Reply } from './reply.ts'
import { Tokens } from './tokens.ts'
import { Vendor } from './vendor.ts'
import { type Delivery, hmac } from './webhooks.ts'

const version = '2026-03'
const defaults = ['name', 'domain', 'createdate', 'hs_lastmodifieddate', 'hs_object_id']

const firstId = 10_000_000_000

interface Input {
	readonly id: string
	readonly idProperty?: string
	readonly objectWriteTraceId?: string
	readonly properties: Json
}

type CheckedInput = { readonly input: Input; readonly properties: Json } | { readonly input: Input; readonly refusal: Refusal }

/** What is wrong with the properties of a write; undefined: nothing. */
export type ValidationRule = (properties: Readonly<Json>) => string | undefined

export class FakeHubSpot extends Vendor {
	readonly token = secret('pat-eu1')
	readonly portalId = 62_515_001
	webhookSecret = secret('of-the-app')
	/** So much later than the record itself the search sees a change. */
	searchLagMs = 0
	/** A rule of the account, for every write. */
	validationRule: ValidationRule = () => undefined
	/** The properties that companies have. */
	readonly properties: Property[] = [...companyProperties]
	readonly tokens = new Tokens({
		now: () => this.clock(),
		rotates: false,
		lifetimeMs: 1_800_000,
		idleMs: Number.POSITIVE_INFINITY,
		extra: { hub_id: this.portalId, scopes: ['crm.objects.companies.read', 'crm.objects.companies.write', 'oauth'] },
	})
	override readonly allowances = [
		new Allowance('DAILY', 250_000, 86_400_000),
		new Allowance('TEN_SECONDLY_ROLLING', 110, 10_000),
	] as const
	readonly companies = this.store('companies', {
		id: (n) => String(firstId + n),
		order: (a, b) => Number(a.id) - Number(b.id),
	})

	constructor() {
		super()
		this.tokens.allow(this.token)
		const companies = `/crm/objects/${version}/companies`
		this.route('GET', companies, (call) => this.#list(call))
		this.route('POST', companies, (call) => this.#create(call))
		this.route('POST', `${companies}/search`, (call) => this.#search(call))
		this.route('POST', `${companies}/batch/read`, (call) => this.#batchRead(call))
		this.route('POST', `${companies}/batch/upsert`, (call) => this.#batchUpsert(call))
		this.route('GET', `${companies}/{id}`, (call, id) => this.#read(call, id))
		this.route('PATCH', `${companies}/{id}`, (call, id) => this.#update(call, id))
		this.route('DELETE', `${companies}/{id}`, (_, id) => this.#archive(id))
		this.route('GET', `/crm/properties/${version}/companies`, () => ({ status: 200, json: { results: this.properties } }))
		this.route('POST', `/crm/properties/${version}/companies`, (call) => this.#createProperty(call))
		this.route('GET', `/account-info/${version}/details`, () => this.#account())
		this.openRoute('GET', '/oauth/authorize', (call) => this.tokens.authorize(call))
		this.openRoute('POST', `/oauth/${version}/token`, (call) => this.tokens.token(call))
		this.openRoute('POST', `/oauth/${version}/token/introspect`, (call) => this.tokens.introspection(call))
		this.openRoute('POST', `/oauth/${version}/token/revoke`, (call) => this.tokens.revocation(call))
	}

	get settings() {
		return {
			PROVIDER_HUBSPOT_BASE_URL: this.url,
			PROVIDER_HUBSPOT_CLIENT_ID: this.tokens.client.id,
			PROVIDER_HUBSPOT_CLIENT_SECRET: this.tokens.client.secret,
			PROVIDER_HUBSPOT_AUTHORIZATION_URL: `${this.url}/oauth/authorize`,
			PROVIDER_HUBSPOT_TOKEN_URL: `${this.url}/oauth/${version}/token`,
		}
	}

	#account(): Reply {
		return { status: 200, json: { portalId: this.portalId, accountType: 'STANDARD', uiDomain: 'app-eu1.hubspot.com' } }
	}

	#list({ query }: Call): Reply {
		const limit = Number(query.get('limit') ?? 10)
		if (!(limit >= 1 && limit <= 100)) throw invalid(`limit must be between 1 and 100, it is ${limit}.`)
		const after = query.get('after') ?? '0'
		if (!/^\d+$/.test(after)) throw invalid('The cursor of the parameter "after" is not valid.')
		const isArchived = query.get('archived') === 'true'
		const rest = this.companies.list().filter(({ id, isRemoved }) => isRemoved === isArchived && Number(id) > Number(after))
		const asked = query.getAll('properties').flatMap((names) => names.split(','))
		const results = rest.slice(0, limit).map((company) => this.#present(company, asked))
		const next = rest.length > limit ? results.at(-1)?.id : undefined
		return { status: 200, json: { results, ...pagingTo(next) }, page: results }
	}

	#search(call: Call): Reply {
		const { properties = [], ...search } = jsonOf(call)
		const seen = this.companies.asOf(this.clock() - this.searchLagMs).filter(({ isRemoved }) => !isRemoved)
		const { total, found, next } = searchIn(seen, search)
		// Its answer is what the index knows, and not the record as it is now.
		const results = found.map((company) => this.#present(company, properties as string[]))
		return { status: 200, json: { total, results, ...pagingTo(next) }, page: results }
	}

	#read({ query }: Call, id: string): Reply {
		const asked = query.getAll('properties').flatMap((names) => names.split(','))
		const company = this.#find(id, query.get('idProperty') ?? undefined)
		if (!company || company.isRemoved !== (query.get('archived') === 'true')) throw notFound()
		return { status: 200, json: this.#present(company, asked) }
	}

	#create(call: Call): Reply {
		const properties = this.#checked(jsonOf(call).properties)
		return { status: 201, json: this.#present(this.companies.put(properties), Object.keys(properties)) }
	}

	#update(call: Call, id: string): Reply {
		const company = this.#find(id, call.query.get('idProperty') ?? undefined)
		if (!company || company.isRemoved) throw notFound()
		const properties = this.#checked(jsonOf(call).properties, company.id)
		return { status: 200, json: this.#present(this.companies.change(company.id, properties), Object.keys(properties)) }
	}

	/** Archived already, or never there: HubSpot answers the same. */
	#archive(id: string): Reply {
		if (this.companies.get(id)?.isRemoved === false) this.companies.remove(id)
		return { status: 204 }
	}

	#batchRead(call: Call): Reply {
		const {
			inputs = [],
			properties = [],
			idProperty,
		} = jsonOf(call) as {
			inputs?: Input[]
			properties?: string[]
			idProperty?: string
		}
		if (inputs.length > 100) throw invalid('The size of the batch must not be over 100.')
		const found = inputs.map(({ id }) => this.#find(id, idProperty)).filter((company) => company && !company.isRemoved)
		const results = found.map((company) => this.#present(company as Stored, properties))
		const missing = inputs.length - results.length
		const errors = missing > 0 && [
			{ status: 'error', category: 'OBJECT_NOT_FOUND', message: 'Could not get some COMPANY objects.' },
		]
		return this.#batch(results, errors || [])
	}

	/** One bad input refuses the whole batch, unless each has an `objectWriteTraceId` by which its error can be told. */
	#batchUpsert(call: Call): Reply {
		const { inputs = [] } = jsonOf(call) as { inputs?: Input[] }
		if (inputs.length > 100) throw invalid('The size of the batch must not be over 100.')
		const checked = inputs.map((input) => this.#checkedInput(input))
		const failed = checked.filter((one) => 'refusal' in one)
		if (failed[0] && inputs.some(({ objectWriteTraceId }) => objectWriteTraceId === undefined)) throw failed[0].refusal
		const results = checked.flatMap((one) => ('properties' in one ? [this.#upsert(one.input, one.properties)] : []))
		const errors = failed.map(({ input, refusal }) => ({
			...(refusal.reply.json as Json),
			context: { objectWriteTraceId: [input.objectWriteTraceId] },
		}))
		return this.#batch(results, errors)
	}

	#checkedInput(input: Input): CheckedInput {
		try {
			return { input, properties: this.#checked(input.properties, this.#find(input.id, input.idProperty)?.id) }
		} catch (refusal) {
			return { input, refusal: refusal as Refusal }
		}
	}

	#upsert({ id, idProperty, objectWriteTraceId }: Input, properties: Json): Json {
		const known = this.#find(id, idProperty)
		const key = idProperty === undefined || idProperty === 'hs_object_id' ? {} : { [idProperty]: id }
		const stored = known ? this.companies.change(known.id, properties) : this.companies.put({ ...key, ...properties })
		const asked = Object.keys({ ...key, ...properties })
		return { ...this.#present(stored, asked), new: !known, ...(objectWriteTraceId && { objectWriteTraceId }) }
	}

	#batch(results: unknown[], errors: unknown[]): Reply {
		const at = new Date(this.clock()).toISOString()
		const failures = errors.length > 0 ? { numErrors: errors.length, errors } : {}
		const json = { status: 'COMPLETE', results, startedAt: at, completedAt: at, ...failures }
		return { status: errors.length > 0 ? 207 : 200, json }
	}

	#createProperty(call: Call): Reply {
		const property = jsonOf(call) as unknown as Property
		if (this.properties.some(({ name }) => name === property.name)) {
			throw new Refusal(errorReply(409, 'OBJECT_ALREADY_EXISTS', `Property ${property.name} already exists`))
		}
		this.properties.push(property)
		return { status: 201, json: property }
	}

	#find(id: string, idProperty = 'hs_object_id'): Stored | undefined {
		if (idProperty === 'hs_object_id') return this.companies.get(id)
		if (!this.properties.some(({ name, hasUniqueValue }) => name === idProperty && hasUniqueValue)) {
			throw invalid(`Property ${idProperty} is not a unique property.`)
		}
		return this.companies.list().find(({ data, isRemoved }) => !isRemoved && String(data[idProperty] ?? '') === id)
	}

	/** The properties of a write as text, with what HubSpot checks of them. */
	#checked(properties: unknown, ownId?: string): Json {
		const given = Object.entries((properties ?? {}) as Json)
		for (const [name, value] of given) {
			const property = this.properties.find((one) => one.name === name)
			if (!property) throw invalidProperty(name, `Property "${name}" does not exist`, 'PROPERTY_DOESNT_EXIST')
			if (property.modificationMetadata?.readOnlyValue) {
				throw invalidProperty(name, `"${name}" is a read only property; its value cannot be set.`, 'READ_ONLY_VALUE')
			}
			const owner = property.hasUniqueValue && value !== '' ? this.#find(String(value), name) : undefined
			if (owner && owner.id !== ownId) {
				throw invalidProperty(name, `${owner.id} already has that value.`, 'CONFLICTING_UNIQUE_VALUE')
			}
		}
		const mistake = this.validationRule(Object.fromEntries(given))
		if (mistake !== undefined) throw invalidProperty(given[0]?.[0] ?? 'name', mistake, 'FAILED_VALIDATION_RULES')
		return Object.fromEntries(given.map(([name, value]) => [name, value === null ? '' : String(value)]))
	}

	#present(company: Stored, asked: readonly string[]) {
		const { id, isRemoved } = company
		const createdAt = new Date(company.createdAt).toISOString()
		const updatedAt = new Date(company.updatedAt).toISOString()
		const properties = propertiesOf(company, asked.length > 0 ? [...asked, ...defaults.slice(2)] : defaults, this.properties)
		return { id, properties, createdAt, updatedAt, archived: isRemoved, ...(isRemoved && { archivedAt: updatedAt }) }
	}

	protected sample(_: string, n: number): Json {
		const country = ['Germany', 'France', 'Japan', 'Brazil'][n % 4]
		return {
			name: `Company ${n}`,
			domain: `company-${n}.example`,
			phone: `+49 30 ${100_000 + n}`,
			city: `City ${n % 97}`,
			country,
		}
	}

	protected touch(pageRecord: unknown): void {
		this.companies.change((pageRecord as { id: string }).id, {})
	}

	protected notFound(): Reply {
		return errorReply(404, 'OBJECT_NOT_FOUND', 'resource not found')
	}

	protected unauthorized(reason: 'missing' | 'unknown' | 'expired'): Reply {
		if (reason === 'expired') {
			return errorReply(401, 'EXPIRED_AUTHENTICATION', 'The OAuth token used to make this call expired 1 second(s) ago.')
		}
		return errorReply(
			401,
			'INVALID_AUTHENTICATION',
			'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
		)
	}

	protected rateLimited(problem: string): Reply {
		const policyName = problem === 'day' ? 'DAILY' : 'TEN_SECONDLY_ROLLING'
		const { json } = errorReply(429, 'RATE_LIMITS', `You have reached your ${policyName.toLowerCase()} limit.`)
		return { status: 429, json: { ...(json as Json), errorType: 'RATE_LIMIT', policyName } }
	}

	protected failed(status: number): Reply {
		return errorReply(status, 'INTERNAL_ERROR', 'internal error')
	}

	protected isLaterPage({ path, query, text }: Call): boolean {
		return path.endsWith('/search') ? /"after":\s*"?[1-9]/.test(text) : query.has('after')
	}

	protected cursorExpired(): Reply {
		return invalid('The cursor of the parameter "after" is not valid.').reply
	}

	/** The search tells nobody how many calls are left. */
	protected headersOf({ path }: Call): Record<string, string> {
		const [daily, tenSeconds] = this.allowances
		if (path.endsWith('/search') || path.startsWith('/oauth/')) return {}
		return {
			'X-HubSpot-RateLimit-Daily': String(daily.max),
			'X-HubSpot-RateLimit-Daily-Remaining': String(daily.left),
			'X-HubSpot-RateLimit-Interval-Milliseconds': String(tenSeconds.intervalMs),
			'X-HubSpot-RateLimit-Max': String(tenSeconds.max),
			'X-HubSpot-RateLimit-Remaining': String(tenSeconds.left),
		}
	}

	/** https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests */
	protected webhooksOf(changes: readonly Change[], url: string): Delivery[] {
		return changes.map((change) => {
			const timestamp = String(this.clock())
			const body = JSON.stringify([eventOf(change, this.portalId)])
			const signature = hmac(this.webhookSecret, `POST${url}${body}${timestamp}`)
			return { body, headers: { 'X-HubSpot-Signature-v3': signature, 'X-HubSpot-Request-Timestamp': timestamp } }
		})
	}
}

const kinds = { created: 'company.creation', updated: 'company.propertyChange', deleted: 'company.deletion' } as const

function eventOf({ number, type, record: { id, updatedAt, data } }: Change, portalId: number): Json {
	const change = type === 'updated' ? { propertyName: 'name', propertyValue: data.name ?? '' } : {}
	return {
		eventId: number,
		subscriptionId: 2_784_121,
		portalId,
		appId: 1_160_452,
		occurredAt: updatedAt,
		subscriptionType: kinds[type],
		attemptNumber: 0,
		objectId: Number(id),
		changeSource: 'CRM',
		...change,
	}
}

const pagingTo = (after: string | undefined) =>
	after === undefined ? {} : { paging: { next: { after, link: `?after=${after}` } } }
