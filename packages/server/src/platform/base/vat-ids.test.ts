import { describe, expect, it } from 'vitest'
import { requireVatId } from './vat-ids.ts'

// Numbers that the authorities and the tests of tax offices publish.
const valid = `ATU13585627 BE0428759497 CHE100155212 CY10259033P DE136695976 DK13585628 EE100931558
	EL094259216 ESB58378431 FI20774740 FR40303265045 GB980780684 HR33392005961 HU12892312 IE6433435F IT00743110157 LT119511515
	LU15027442 LV40003521600 MT11679112 NL004495445B01 NO995525828MVA PL8567346215 PT501964843 RO18547290 SE123456789701
	SI50223054 SK2022749619 XI980780684`.split(/\s+/)

const swapped = (vatId: string) => vatId.replace(/\d/, (digit) => String((Number(digit) + 1) % 10))
const check = (vatId: string) => requireVatId(vatId, '/vatId')

describe('a VAT id', () => {
	it.each(valid)('%s is valid, and not with another first digit', (vatId) => {
		expect(check(vatId)).toBe(vatId)
		expect(() => check(swapped(vatId))).toThrow(/is not a valid VAT ID of [A-Z][a-z]{3}/)
	})

	it.each([
		['de 136.695-976', 'DE136695976'],
		['CHE-100.155.212 MWST', 'CHE100155212MWST'],
		['gr094259216', 'GR094259216'],
		// Elsewhere there is no rule to check.
		['AU51824753556', 'AU51824753556'],
		['BG831650349', 'BG831650349'],
		['CZ640903926', 'CZ640903926'],
	])('%s is stored as %s', (written, stored) => expect(check(written)).toBe(stored))

	it.each(['136695976', 'D', 'DE', 'DE136695976!', 'ДЕ136695976', 'CHE100155212XYZ'])('%s is refused', (written) =>
		expect(() => check(written)).toThrow(),
	)
})
