// The client of the contract.
import { Remit } from '@remit/sdk'

export const remit = new Remit({
	session: true,
	baseUrl: globalThis.location?.origin ?? 'http://localhost',
	timeout: 30_000,
	// query.ts repeats reads, and shows that it does; a write is repeated by the person.
	maxRetries: 0,
})
