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
})
