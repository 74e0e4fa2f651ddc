// What differs from copy to copy of a row, as SQL of its number `n`, of the time `at` of its slot and of the nine digits `digits` that ids
// of that time begin with.

const number = (n: string) => `(100000000 + ${n})`
const idOf = (prefix: string, n: string) => `'${prefix}_' || ${number(n)}`
/** One of the first thousand records of a kind. */
const oneOf = (prefix: string) => idOf(prefix, '(1 + n % 1000)')
const oneIn = (count: number, value: string, others: string) => `case n % ${count} when 0 then ${value} else ${others} end`

const day = 86_400_000
const times = { createdAt: 'at + n % 1000', updatedAt: 'at + n % 1000' }
const cents = 'n * 7919 % 900000'
const status = `case n % 5 when 0 then 'draft' when 1 then 'sent' when 2 then 'paid' when 3 then 'overdue' else 'cancelled' end`

/** Words of texts: one that all have, one of a thousand, and the number. */
export const words = { all: 'grown', some: 'w7', one: 'u4711' }
const name = `'Grown W' || (n % 1000) || ' U' || n`
const text = `'grown w' || (n % 1000) || ' u' || n`

/** A company that has an event and a delivery. */
export const someCompany = 'cmp_100000500'

export interface Copied {
	/** Which row is copied. */
	readonly source?: string
	readonly columns: Readonly<Record<string, string>>
	/** The kind of record in the index of words, with the words of a copy. The first is its whole title. */
	readonly indexed?: { readonly kind: string; readonly words: readonly string[] }
}

const found = (kind: string) => ({ kind, words: [`'=' || ${text}`, `'w' || (n % 1000)`, `'u' || n`] })

/** By table, each after those to which it refers. */
export const tables = (endpointIds: readonly string[]): Readonly<Record<string, Copied>> => ({
	companies: {
		columns: { id: idOf('cmp', 'n'), name, sortName: text, searchText: text, ...times },
		indexed: found('company'),
	},
	contacts: {
		columns: {
			id: idOf('ct', 'n'),
			name,
			searchText: text,
			companyId: oneOf('cmp'),
			email: `'p' || n || '@grown.example'`,
			...times,
		},
		indexed: found('contact'),
	},
	deals: {
		columns: {
			...{ id: idOf('dl', 'n'), name, searchText: text, companyId: oneOf('cmp'), contactId: oneOf('ct'), ...times },
			...{ stage: oneIn(5, `'won'`, 'stage'), currency: oneIn(1000, `'CHF'`, `'EUR'`), valueCents: cents },
		},
		indexed: found('deal'),
	},
	invoices: {
		columns: {
			...{
				id: idOf('inv', 'n'),
				invoiceNumber: `'U' || n`,
				searchText: `'u' || n`,
				companyId: oneOf('cmp'),
				dealId: oneOf('dl'),
			},
			...{ status, currency: oneIn(1000, `'CHF'`, `'EUR'`), totalCents: cents, issuedDate: 'at', ...times },
			// What is sent is not overdue, or the server would mark it beside what is measured.
			dueDate: `case n % 5 when 1 then at + ${100 * day} when 3 then at - ${100 * day} end`,
			paidDate: 'case n % 5 when 2 then at end',
			amountPaidCents: `case n % 5 when 2 then ${cents} else 0 end`,
		},
		indexed: { kind: 'invoice', words: [`'=u' || n`] },
	},
	payments: {
		columns: {
			...{
				id: idOf('pay', 'n'),
				invoiceId: idOf('inv', 'n'),
				companyId: oneOf('cmp'),
				externalId: `'external' || n`,
				paidAt: 'at',
			},
			...{ status: oneIn(5, `'reversed'`, `'succeeded'`), source: oneIn(7, `'status'`, `'manual'`), ...times },
		},
	},
	payment_allocations: {
		columns: { id: idOf('alc', 'n'), paymentId: idOf('pay', 'n'), invoiceId: idOf('inv', 'n'), allocatedAt: 'at' },
	},
	time_entries: {
		columns: {
			...{ id: idOf('te', 'n'), dealId: oneOf('dl'), searchText: text, taskName: name, userId: `'user' || (n % 50)`, ...times },
			...{ startedAt: 'at + n % 1000', endedAt: 'at + n % 1000 + 3600000', billable: oneIn(9, 'false', 'true') },
			...{ status: oneIn(2, `'invoiced'`, `'open'`), invoiceId: oneIn(2, oneOf('inv'), 'null') },
		},
		indexed: found('time_entry'),
	},
	events: {
		source: `type = 'company.created'`,
		columns: {
			...{ position: '1000000 + n', place: '1000000 + n', id: `'evt_' || digits || ${number('n')}`, timestamp: 'at' },
			...{ resourceId: idOf('cmp', 'n'), type: oneIn(10, `'company.created'`, `'company.updated'`) },
		},
	},
	webhook_deliveries: {
		columns: {
			...{
				id: `'whd_' || digits || ${number('n')} || 'x'`,
				eventId: `'evt_' || digits || ${number('n')}`,
				resourceId: idOf('cmp', 'n'),
			},
			endpointId: `case n % ${endpointIds.length} ${endpointIds.map((id, index) => `when ${index} then '${id}'`).join(' ')} end`,
			eventType: oneIn(10, `'company.created'`, `'company.updated'`),
			status: `case when n % 10 > 2 then 'succeeded' when n % 10 = 2 then 'skipped' when n % 1000 = 0 then 'cancelled'
				when n % 50 = 0 then 'pending' when n % 50 = 1 then 'retrying' else 'exhausted' end`,
			// The server attempts none of them beside what is measured.
			nextAttemptAt: `case when n % 50 < 2 and n % 1000 <> 0 then ${Date.now() + day} end`,
			...{ leased: 'false', leaseEnd: 'null', holdsUntil: 'null', scheduledAt: 'null', ...times },
		},
	},
})
