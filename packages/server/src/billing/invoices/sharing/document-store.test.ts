// The hash by which a kept PDF is found again, also by later versions.
import { expect, it } from 'vitest'
import { contentHashOf } from './document-store.ts'
import type { PresentSource } from './present.ts'

const invoice = {
	...{ id: 'inv_1', organizationId: 'org_1', companyId: 'co_1', dealId: null, invoiceNumber: 'INV-0001', status: 'paid' },
	...{ currency: 'EUR', subtotalCents: 10_000, taxRate: 19, taxCents: 1_900, totalCents: 11_900, amountPaidCents: 11_900 },
	...{ amountDueCents: 0, isOverdue: false, sentAt: 1, viewedAt: null, viewCount: 0, version: 3, createdAt: 1, updatedAt: 2 },
	...{ billTo: null, billFrom: null, locale: 'de-DE', timeZone: 'Europe/Berlin', lineItems: [], notes: null },
}
const others = {
	seller: { name: 'A' },
	buyer: null,
	locale: 'de-DE',
	timeZone: 'Europe/Berlin',
	paymentUrl: null,
	timeEntries: [],
}
const source = (more: object = {}, rest: object = {}) =>
	({ invoice: { ...invoice, ...more }, ...others, ...rest }) as unknown as PresentSource

it('An invoice that says what it said before has the hash of the first version that kept PDFs', () => {
	const kept = 'ea547c044b97e96b1c03535a443935966186b57e0cb50428f84814a361af4e22'
	const fields = { language: null, branding: null, paymentState: 'paid', amountCreditedCents: 0 }
	const rest = { language: 'en', branding: { logo: null, accentColor: null }, logoData: null }
	expect(contentHashOf(source(fields, rest))).toBe(kept)
})

it('What a document shows changes its hash: language, colour, logo and credit', () => {
	const rests = [{ language: 'de' }, { branding: { accentColor: '#123456', logo: null } }]
	const logo = { branding: { accentColor: null, logo: { sha256: 'a' } }, logoData: 'AA==' }
	const all = [{}, ...rests, logo].map((rest) => contentHashOf(source({}, { language: 'en', ...rest })))
	all.push(contentHashOf(source({ amountCreditedCents: 1 }, { language: 'en' })))
	expect(new Set(all).size).toBe(all.length)
})
