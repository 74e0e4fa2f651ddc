import { expect, it } from 'vitest'
import { differing, overruledOf, stillOverruled } from './overruled.ts'

it('A field that was overruled, and that the record has no more, is as if it were null', () => {
	const overruled = overruledOf({ name: 'A', phone: null }, ['name', 'phone'])
	expect(Object.keys(stillOverruled(overruled, { name: 'A' }) ?? {})).toEqual(['name', 'phone'])
	expect(stillOverruled(overruledOf({ name: 'A' }, ['name']), {})).toBe(null)
	expect(differing({ name: 'A', phone: null }, {})).toEqual(['name'])
})
