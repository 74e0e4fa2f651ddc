import type { HistoryEntry } from '@remit/sdk'
import { expect, it } from 'vitest'
import { wordsOf } from './history-words.ts'

const entry = (before: object, after: object, operation = 'invoices.update', action = 'updated') =>
	({ action, operation, before, after }) as HistoryEntry

it.each([
	['Marked as sent', { status: 'draft', sentAt: null, billTo: null }, { status: 'sent', sentAt: 1, billTo: {} }],
	['Changed due date. No longer overdue', { status: 'overdue', dueDate: 1 }, { status: 'sent', dueDate: 2 }],
	['Changed due date. Became overdue', { status: 'sent', dueDate: 2 }, { status: 'overdue', dueDate: 1 }],
	['Marked as paid', { status: 'sent', amountPaidCents: 0 }, { status: 'paid', amountPaidCents: 5, paymentMethod: 'Cash' }],
	['Changed lines. Paid in full', { status: 'sent', lineItems: [] }, { status: 'paid', lineItems: [] }],
	['Changed notes', { notes: null }, { notes: 'Hello' }],
	['Changed', { version: 1 }, { version: 2 }],
])('%s', (words, before, after) => expect(wordsOf(entry(before, after))).toBe(words))

it('A payment is named beside the status that follows from it', () => {
	const [owed, paid] = [
		{ status: 'sent', amountPaidCents: 0, paymentMethod: null },
		{ status: 'paid', amountPaidCents: 5, paymentMethod: 'Cash' },
	]
	expect(wordsOf(entry(owed, paid, 'payments.create'))).toBe('Payment recorded. Paid in full')
	expect(wordsOf(entry(paid, owed, 'payments.delete'))).toBe('Payment reversed. Is sent again, not paid')
	expect(wordsOf(entry({ amountPaidCents: 0 }, { amountPaidCents: 1 }, 'payments.create'))).toBe('Payment recorded')
})

it('An e-mail is named with those who got it, or did not', () => {
	const recipients = [
		{ address: 'a@acme.example', accepted: true },
		{ address: 'b@acme.example', accepted: false },
	]
	const words = (status: string, all: object[] = recipients) =>
		wordsOf(entry({}, { status, recipients: all }, 'invoices.send', 'emailed'))
	expect(words('accepted')).toBe('E-mailed to a@acme.example')
	expect(words('failed')).toBe('E-mail to b@acme.example failed')
	expect(words('uncertain', [])).toBe('Perhaps e-mailed')
})
