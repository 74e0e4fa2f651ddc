import { describe, expect, it } from 'vitest'
import { day, emptyInvoice, invoiceOf, present } from '../../../../test/presented.ts'
import type { LineItem } from '../../../generated/contract.ts'
import type { PresentSource } from './present.ts'

describe('the hours by rate', () => {
	const time = (fields: Partial<LineItem>): Partial<LineItem> => ({ kind: 'time', unit: 'hour', ...fields })
	const lines = [
		time({ quantity: '7.5', unitPriceCents: 9000 }),
		{ quantity: '3', unitPriceCents: 9000 },
		time({ quantity: '1', unit: null, unitPriceCents: 12_000 }),
		time({ quantity: '0.333333', durationSeconds: 1200, unitPriceCents: 9000, description: 'From the timesheet' }),
		time({ quantity: '2', unit: 'day', unitPriceCents: 80_000 }),
	]

	it('are summed for each rate, of the lines of hours', () => {
		expect(present(invoiceOf(lines, { showRateBreakdown: true })).rates).toEqual({
			title: 'Hours by rate',
			columns: ['Rate', 'Hours', 'Amount'].map((label) => ({ label, numeric: true })),
			rows: [
				['€90.00', '7.8333', '€705.00'],
				['€120.00', '1.00', '€120.00'],
			],
			sum: ['Total', '8.8333', '€825.00'],
		})
	})

	it('are left out where nobody asked for them or no line is of hours', () => {
		expect(present(invoiceOf(lines)).rates).toBeNull()
		expect(present(invoiceOf([{ unitPriceCents: 100 }], { showRateBreakdown: true })).rates).toBeNull()
	})
})

describe('the timesheet', () => {
	const nothing = { description: null, taskName: null, deliverableName: null }
	const entries = [
		{ ...nothing, startedAt: day('2026-04-01T07:00:00Z'), durationSeconds: 5400, taskName: 'Design' },
		{ ...nothing, startedAt: day('2026-03-30T22:15:00Z'), durationSeconds: 900, description: 'Call', taskName: ' ' },
		{ ...nothing, startedAt: day('2026-03-30T07:00:00Z'), durationSeconds: 27_000, taskName: 'Design' },
	]
	const invoice = { ...emptyInvoice, includeTimesheet: true }

	it('has its entries in the order of time, with the day where the seller is, and sums them up', () => {
		expect(present(invoice, { timeEntries: entries }).timesheet).toEqual({
			title: 'Timesheet',
			columns: [
				{ label: 'Date', numeric: false },
				{ label: 'Task', numeric: false },
				{ label: 'Description', numeric: false },
				{ label: 'Hours', numeric: true },
			],
			rows: [
				['30 Mar 2026', 'Design', '', '7.50'],
				['31 Mar 2026', '', 'Call', '0.25'],
				['1 Apr 2026', 'Design', '', '1.50'],
			],
			sum: ['Total', '', '', '9.25'],
		})
	})

	it('takes midnight UTC for an instant, unlike the dates of an invoice', () => {
		const [first] = entries as [(typeof entries)[number]]
		const timeEntries = [{ ...first, startedAt: day('2026-03-31T00:00:00Z') }]
		const { timesheet } = present(invoice, { timeEntries, timeZone: 'America/Los_Angeles' })
		expect(timesheet?.rows).toEqual([['30 Mar 2026', 'Design', '1.50']])
	})

	it('leaves out the columns that no entry fills', () => {
		const labels = (timeEntries: PresentSource['timeEntries']) =>
			present(invoice, { timeEntries }).timesheet?.columns.map(({ label }) => label)
		const [first] = entries as [(typeof entries)[number]]
		expect(labels([{ ...first, taskName: null }])).toEqual(['Date', 'Hours'])
		expect(labels([{ ...first, deliverableName: 'Relaunch' }])).toEqual(['Date', 'Deliverable', 'Task', 'Hours'])
	})

	it('is left out where nobody asked for it or no time is charged', () => {
		expect(present(emptyInvoice, { timeEntries: entries }).timesheet).toBeNull()
		expect(present(invoice).timesheet).toBeNull()
	})
})
