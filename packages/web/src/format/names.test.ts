import { expect, it } from 'vitest'
import { fieldName, invoiceStatus, statusOf, words } from './names.ts'

it('Names of programs become words', () => {
	expect([words('invoice.partially_paid'), words('timeZone'), fieldName('billingAddressLine1')]).toEqual([
		'Invoice partially paid',
		'Time zone',
		'Billing address line 1',
	])
})

it('A status that is new to the pages is shown all the same', () => {
	expect(statusOf('quite_new')).toEqual({ label: 'Quite new', tone: 'plain' })
})

it('An invoice is overdue before its status says so', () => {
	expect(invoiceStatus({ status: 'sent', isOverdue: true })).toEqual({ label: 'Overdue', tone: 'bad' })
	expect(invoiceStatus({ status: 'sent', isOverdue: false })).toEqual({ label: 'Sent', tone: 'accent' })
	const part = { isOverdue: false, paymentState: 'partially_paid' }
	for (const status of ['sent', 'paid']) expect(invoiceStatus({ status, ...part })).toEqual({ label: 'Part paid', tone: 'warn' })
	const unpaid = { isOverdue: false, paymentState: 'unpaid' }
	expect(invoiceStatus({ status: 'paid', ...unpaid })).toEqual({ label: 'Unpaid', tone: 'warn' })
	expect(invoiceStatus({ status: 'sent', ...unpaid })).toEqual({ label: 'Sent', tone: 'accent' })
	expect(invoiceStatus({ status: 'cancelled', ...part })).toEqual({ label: 'Cancelled', tone: 'plain' })
	expect(invoiceStatus({ status: 'overdue', ...unpaid })).toEqual({ label: 'Sent', tone: 'accent' })
	expect(invoiceStatus({ status: 'overdue', ...part })).toEqual({ label: 'Part paid', tone: 'warn' })
	expect(invoiceStatus({ status: 'sent', ...part, isOverdue: true })).toEqual({ label: 'Overdue', tone: 'bad' })
})
