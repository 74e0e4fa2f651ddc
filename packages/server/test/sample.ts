// What a folder's samples.ts says: how the tests ask its operations.
import type { Tenant } from './harness.ts'

/** What an operation is asked: the record of its path, its body, or both. */
export interface Asked {
	readonly id?: string | readonly string[]
	readonly body?: object
}

export interface Sample {
	/** Makes what the path names; returns the id, the token, or several ids. */
	readonly make?: (tenant: Tenant) => Promise<string | readonly string[]>
	/** A body that is taken. */
	readonly body?: (tenant: Tenant) => Promise<object>
	/** Another body that is taken, where a longer text is none. */
	readonly altered?: object
	/** What breaks a rule: 422. */
	readonly broken?: (tenant: Tenant) => Promise<Asked>
	/** What contradicts what is stored: 409. */
	readonly contradicting?: (tenant: Tenant) => Promise<Asked>
}

/** By resource, and for an operation that is asked otherwise than the rest of its resource. */
export type Samples = Record<string, Sample>

/** Creates a record and returns its id. */
export const made = async ({ ask }: Tenant, path: string, body?: object): Promise<string> =>
	(await ask('POST', path, { body })).body.id
