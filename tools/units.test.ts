import { expect, it } from 'vitest'
import { withUnit } from './units.ts'

it('says the unit at the end of one sentence, after several sentences by itself, and not twice', () => {
	expect(withUnit('Sum with tax.', 'in minor units of the currency')).toBe('Sum with tax, in minor units of the currency.')
	expect(withUnit('When it changed. A read is none.', 'in Unix milliseconds')).toBe(
		'When it changed. A read is none. It is in Unix milliseconds.',
	)
	expect(withUnit('The rate in percent.', 'in percent')).toBe('The rate in percent.')
})
