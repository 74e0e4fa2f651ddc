// What can be done with many invoices at once: one request each, one after the other.
import { describe } from '../../api/errors.ts'
import { call } from '../../api/query.ts'
import type { Row } from './list-query.ts'

export type BatchAction = 'send' | 'pay' | 'delete'

/** When and how the money came. */
export interface Paid {
	readonly paidDate: string
	readonly paymentMethod?: string
}

interface Batch {
	readonly verb: string
	/** What is done to `1 invoice` or `3 invoices`. */
	readonly act: (count: string) => string
	readonly done: string
	readonly consequence: string
	/** Why it cannot be done with a row; undefined when it can. */
	readonly obstacle: (row: Row) => string | undefined
	/** `key` is the same when it is tried again, so that nothing happens twice. */
	readonly run: (row: Row, key: string, paid: Paid) => PromiseLike<unknown>
}

const addressOf = ({ company }: Row) => company?.billingEmail ?? ''

export const batches: Readonly<Record<BatchAction, Batch>> = {
	send: {
		verb: 'Send',
		act: (count) => `Send ${count}`,
		done: 'sent',
		consequence:
			'Each client gets an e-mail at the address of its company, with the invoice as a PDF and a link to view it, and to pay it if you take payments online.',
		obstacle: (row) => {
			if (row.status === 'cancelled') return 'It is cancelled.'
			if (row.status === 'paid') return 'It is paid already.'
			if (!row.company) return 'It has no client.'
			return addressOf(row) ? undefined : `${row.company.name} has no e-mail for invoices.`
		},
		run: (row, idempotencyKey) => call('invoices.send', row.id, { to: addressOf(row) }, { idempotencyKey }),
	},
	pay: {
		verb: 'Mark paid',
		act: (count) => `Mark ${count} as paid`,
		done: 'marked as paid',
		consequence: 'Each is recorded as paid in full.',
		obstacle: ({ status, amountDueCents, company }) => {
			if (status === 'cancelled') return 'It is cancelled.'
			if (status === 'paid' && amountDueCents <= 0) return 'It is paid already.'
			return company ? undefined : 'It has no client.'
		},
		run: ({ id, version }, _key, paid) => call('invoices.update', id, { status: 'paid', ...paid }, { ifMatch: version }),
	},
	delete: {
		verb: 'Delete',
		act: (count) => `Delete ${count}`,
		done: 'deleted',
		consequence: 'They are gone for good, and their numbers are never used again. Time entries on them can be invoiced again.',
		obstacle: () => undefined,
		run: ({ id, version }) => call('invoices.delete', id, { ifMatch: version }),
	},
}

export interface Failure {
	readonly row: Row
	readonly reason: string
}

/** Tells after each row how many are done and which failed; stops when `isStopped` says so. */
export async function runBatch(
	{ run }: Batch,
	rows: readonly Row[],
	keyOf: (row: Row) => string,
	paid: Paid,
	onStep: (done: number, failures: readonly Failure[]) => void,
	isStopped: () => boolean,
): Promise<void> {
	const failures: Failure[] = []
	for (const [index, row] of rows.entries()) {
		if (isStopped()) return
		try {
			await run(row, keyOf(row), paid)
		} catch (error) {
			const { title, advice } = describe(error)
			failures.push({ row, reason: advice || title })
		}
		onStep(index + 1, [...failures])
	}
}
