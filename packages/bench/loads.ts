// The loads of the four main operations.
import type { Load } from './load.ts'
import { searches } from './names.ts'
import type { Seed } from './seed.ts'

/**
 * The number of different invoices that are read, so that a small cache of rows cannot help (autocannon sends only the first
 * 500).
 */
const idCount = 4_000

export function getLoad({ invoiceIds }: Pick<Seed, 'invoiceIds'>): Load {
	return {
		method: 'GET',
		paths: shuffled(invoiceIds)
			.slice(0, idCount)
			.map((id) => `/api/invoices/${id}`),
	}
}

const statuses = ['draft', 'sent', 'paid', 'overdue', 'cancelled']

export const filteredLists = statuses.map((status) => `/api/invoices?status=${status}&limit=50`)

/** Half of the lists are unfiltered, half filtered by status. */
export const listLoad: Load = { method: 'GET', paths: filteredLists.flatMap((path) => ['/api/invoices?limit=50', path]) }

export const searchLoad: Load = { method: 'GET', paths: searches.map((word) => `/api/companies?search=${word}&limit=20`) }

export const createLoad: Load = {
	method: 'POST',
	paths: ['/api/invoices'],
	body: JSON.stringify({ totalCents: 12_500, currency: 'EUR', dueDate: '2031-03-31' }),
}

/** Shuffles with a fixed seed: every run has the same order. */
function shuffled<T>(items: readonly T[]): T[] {
	const mixed = [...items]
	let state = 42
	for (let index = mixed.length - 1; index > 0; index--) {
		state = (state * 48_271) % 2_147_483_647
		const other = state % (index + 1)
		;[mixed[index], mixed[other]] = [mixed[other] as T, mixed[index] as T]
	}
	return mixed
}
