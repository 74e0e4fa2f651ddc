import fc from 'fast-check'
import { expect, it } from 'vitest'
import { changes, merge, numbered } from './merge.ts'

const base = {
	name: 'Acme',
	phone: '1',
	notes: null as string | null,
	lineItems: [
		{ id: 'a', text: 'A' },
		{ id: 'b', text: 'B' },
	],
}

it('What only one of two changed stays, and what both changed is asked', () => {
	const mine = { ...base, name: 'Mine', notes: 'mine' }
	const theirs = { ...base, phone: '2', notes: 'theirs' }
	expect(merge(base, mine, theirs)).toEqual({
		values: { ...base, name: 'Mine', phone: '2', notes: 'mine' },
		conflicts: [{ name: 'notes', mine: 'mine', theirs: 'theirs' }],
	})
})

it('The same change by both is no conflict', () => {
	const both = { ...base, phone: '2' }
	expect(merge(base, both, both)).toEqual({ values: both, conflicts: [] })
})

it('A new line that was changed after it was sent is the stored one', () => {
	const line = (id: string | null, text: string) => ({ id, text })
	const stored = { lines: [line('a', 'A'), line('b', 'B'), line('c', 'C')] }
	const sent = { lines: [line('a', 'A'), line(null, 'B'), line(null, 'C')] }
	const mine = { lines: [line(null, 'C'), line(null, 'B2'), line('a', 'A'), line(null, 'D')] }
	const expected = [line('c', 'C'), line('b', 'B2'), line('a', 'A'), line(null, 'D')]
	expect(merge(...numbered(sent, mine, stored), stored)).toEqual({ values: { lines: expected }, conflicts: [] })
	expect(merge(...numbered(sent, { lines: [] }, stored), stored).values).toEqual({ lines: [] })
})

it('Lines are matched by their id, whatever their order', () => {
	const mine = {
		...base,
		lineItems: [
			{ id: 'b', text: 'B mine' },
			{ id: 'a', text: 'A' },
			{ id: '', text: 'new' },
		],
	}
	const theirs = {
		...base,
		lineItems: [
			{ id: 'a', text: 'A theirs' },
			{ id: 'b', text: 'B theirs' },
			{ id: 'c', text: 'C' },
		],
	}
	const { values, conflicts } = merge(base, mine, theirs)
	expect(values.lineItems).toEqual([
		{ id: 'b', text: 'B mine' },
		{ id: 'a', text: 'A theirs' },
		{ id: '', text: 'new' },
		{ id: 'c', text: 'C' },
	])
	expect(conflicts).toEqual([{ name: 'lineItems.0.text', mine: 'B mine', theirs: 'B theirs' }])
})

it('A line that one removed is gone, unless the other changed it', () => {
	const [a, b] = base.lineItems
	const removed = { ...base, lineItems: [a as { id: string; text: string }] }
	const changed = { ...base, lineItems: [a as { id: string; text: string }, { id: 'b', text: 'changed' }] }
	expect(merge(base, removed, { ...base, phone: '2' }).values.lineItems).toEqual([a])
	expect(merge(base, removed, { ...changed, phone: '2' }).values.lineItems).toEqual(changed.lineItems)
	expect(merge(base, changed, removed).values.lineItems).toEqual([a, { id: 'b', text: 'changed' }])
	expect(
		merge(base, { ...base, lineItems: [{ id: 'a', text: 'mine' }, b as { id: string; text: string }] }, removed).values.lineItems,
	).toEqual([{ id: 'a', text: 'mine' }])
})

it('Nothing is lost: each field is mine, theirs, or named as a conflict', () => {
	const record = fc.record({ a: fc.nat(2), b: fc.nat(2), c: fc.nat(2) })
	fc.assert(
		fc.property(record, record, record, (before, mine, theirs) => {
			const { values, conflicts } = merge(before, mine, theirs)
			for (const name of ['a', 'b', 'c'] as const) {
				const both = mine[name] !== before[name] && theirs[name] !== before[name] && mine[name] !== theirs[name]
				expect(conflicts.some((conflict) => conflict.name === name)).toBe(both)
				if (mine[name] !== before[name]) expect(values[name]).toBe(mine[name])
				else expect(values[name]).toBe(theirs[name])
			}
		}),
	)
})

it('A PATCH has the changed fields alone', () => {
	expect(changes(base, { ...base, phone: '2', notes: null })).toEqual({ phone: '2' })
})
