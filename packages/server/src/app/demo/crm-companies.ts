// The companies that the demo CRM keeps, in memory: a start begins with the same ones. One of them changes each minute.
import { randomUUID } from 'node:crypto'
import { minuteMs } from '../../platform/base/dates.ts'

const fields = ['name', 'domain', 'phone', 'city', 'country'] as const

type Fields = { readonly [Field in (typeof fields)[number]]: string | null }

export interface CrmCompany extends Fields {
	readonly id: string
	/** ISO 8601. */
	readonly updatedAt: string
}

const mostCompanies = 200
const longestText = 500

/** A request that the CRM does not take; the message is for its caller. */
export class CrmRejection extends Error {}

export class CrmCompanies {
	readonly #companies = new Map<string, CrmCompany>()
	#minute: number

	constructor(now: number) {
		for (const [at, [name, domain, city, country]] of begun.entries())
			this.#put({ id: String(101 + at), name, domain, city, country, phone: '+49 30 5550100' }, now)
		this.#minute = Math.floor(now / minuteMs)
	}

	/** In the order in which they last changed. */
	list(): CrmCompany[] {
		return [...this.#companies.values()].sort((a, b) => a.updatedAt.localeCompare(b.updatedAt) || a.id.localeCompare(b.id))
	}

	get(id: string): CrmCompany | undefined {
		return this.#companies.get(id)
	}

	create(input: unknown, now: number): CrmCompany {
		if (this.#companies.size >= mostCompanies) throw new CrmRejection(`The demo CRM keeps ${mostCompanies} companies at most.`)
		const given = { name: null, domain: null, phone: null, city: null, country: null, ...checked(input) }
		// An id comes once, also after the next start: syncs remember it.
		return this.#put({ ...given, id: randomUUID() }, now)
	}

	change(company: CrmCompany, input: unknown, now: number): CrmCompany {
		return this.#put({ ...company, ...checked(input) }, now)
	}

	remove(id: string): void {
		this.#companies.delete(id)
	}

	#put(company: Omit<CrmCompany, 'updatedAt'>, now: number): CrmCompany {
		const stored = { ...company, updatedAt: new Date(now).toISOString() }
		this.#companies.set(stored.id, stored)
		return stored
	}

	/** Gives a company another number for each minute that has passed: to be called before anything else. */
	tick(now: number): void {
		const minute = Math.floor(now / minuteMs)
		const companies = [...this.#companies.values()]
		for (let at = Math.max(this.#minute + 1, minute - companies.length + 1); at <= minute; at++) {
			const company = companies[at % companies.length]
			if (company) this.#put({ ...company, phone: `+49 30 5550${100 + (at % 900)}` }, at * minuteMs)
		}
		this.#minute = Math.max(minute, this.#minute)
	}
}

function checked(input: unknown): Partial<Fields> {
	if (typeof input !== 'object' || input === null || Array.isArray(input)) throw new CrmRejection('A company is an object.')
	for (const [name, value] of Object.entries(input)) {
		if (!fields.includes(name as never)) throw new CrmRejection(`A company has no ${name}; it has ${fields.join(', ')}.`)
		if (value !== null && (typeof value !== 'string' || value.length > longestText))
			throw new CrmRejection(`${name} must be null, or text of ${longestText} characters at most.`)
	}
	return input
}

/** The first is one of the demo's own companies (`data.ts`), so that a sync finds it. */
const begun: readonly (readonly [name: string, domain: string, city: string, country: string])[] = [
	['Harbor & Pine Books', 'harborpine.example', 'Portland', 'United States'],
	['Blue Anchor Freight', 'blueanchor.example', 'Hamburg', 'Germany'],
	['Casa Verde Arquitectos', 'casaverde.example', 'Valencia', 'Spain'],
	['Dunmore Dairy', 'dunmore.example', 'Cork', 'Ireland'],
	['Elbtal Optik', 'elbtal.example', 'Dresden', 'Germany'],
	['Fjord & Fell Outfitters', 'fjordfell.example', 'Bergen', 'Norway'],
	['Granite Peak Software', 'granitepeak.example', 'Denver', 'United States'],
	['Hanami Tea House', 'hanami.example', 'Kyoto', 'Japan'],
	['Isola Ceramiche', 'isola.example', 'Faenza', 'Italy'],
	['Juniper Legal', 'juniper.example', 'Leeds', 'United Kingdom'],
	['Kestrel Aviation', 'kestrel.example', 'Toulouse', 'France'],
	['Lumen Lab', 'lumenlab.example', 'Eindhoven', 'Netherlands'],
]
