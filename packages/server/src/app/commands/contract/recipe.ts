// What the recipes of `remit contract verify` are made of.
import type { ServerUnderTest } from './server-under-test.ts'

export type Ids = string | readonly string[]

/** A request that the contract answers with this error. */
export interface ErrorCase {
	readonly status: number
	readonly code: string
	readonly ids?: (server: ServerUnderTest) => Promise<Ids>
	readonly body?: object | ((server: ServerUnderTest) => Promise<object>)
	/** Leaves what cannot be removed. */
	readonly lasting?: true
}

export interface Recipe {
	/** Makes what stands in the path. */
	readonly make?: (server: ServerUnderTest) => Promise<Ids>
	readonly body?: (server: ServerUnderTest) => Promise<object>
	/** Asked of each operation of the resource that documents the code. */
	readonly errors?: readonly ErrorCase[]
	/** Why a valid request is not sent. */
	readonly skip?: string
	/** Asks the payment processor, so that a valid request is sent only where that is one for tests. */
	readonly pays?: true
	/** Changes the whole organization, so that a valid request is sent only in one of its own. */
	readonly wide?: true
	/** Makes what cannot be removed, so that a valid request is sent only in an organization of its own. */
	readonly lasting?: true
	/** What is deleted can still be read. */
	readonly archives?: true
}

/** By resource, and for an operation that is asked otherwise than the rest of its resource. */
export type Recipes = Readonly<Record<string, Recipe>>

/** Of all records that a run makes. */
export const name = 'Contract verification'

/** An address that nobody has. */
export const nobody = 'nobody@contract-verification.invalid'

export const sendsMail = 'sends mail'

export const rejected = (code: string, body: object): ErrorCase => ({ status: 422, code, body })

export const company = (server: ServerUnderTest, more: object = {}) => server.make('companies.create', { name, ...more })
export const invoice = (server: ServerUnderTest) => server.make('invoices.create', { totalCents: 5_000 })
