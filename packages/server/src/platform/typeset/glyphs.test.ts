import { expect, it } from 'vitest'
import { isPrintable, unprintableTexts } from './glyphs.ts'

it.each([
	'Café, Ελλάδα, Київ, Łódź, Tiếng Việt',
	'請求書 领収書 ひらがな カタカナ 한국어',
	'فاتورة ضريبية',
	'tab\tline\r\nend\u200d\ufe0f\u00ad\u200b',
	'made of others: \ufa10 \u1e69',
	'€ ₹ ₿ № ½ − … “x” •',
])('The fonts have %j', (text) => expect(isPrintable(text)).toBe(true))

it.each(['😀', 'ไทย', 'עברית', 'ދިވެހި', '\ue000', '\uffff', '\ud800'])('The fonts do not have %j', (text) =>
	expect(isPrintable(text)).toBe(false),
)

it('Texts that cannot be printed are named by their place, each character once, as a reader counts them', () => {
	const record = {
		notes: 'Thanks 😀😀 👨‍👩‍👧!',
		lineItems: [{ description: 'ok', quantity: 1, unit: null }, { description: 'ไ' }],
		metadata: { crm: '😀' },
	}
	expect(unprintableTexts(record)).toEqual([
		{ path: ['notes'], characters: ['😀', '👨‍👩‍👧'] },
		{ path: ['lineItems', '1', 'description'], characters: ['ไ'] },
	])
})
