import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { day, emptyInvoice, emptyLine, invoiceOf, party, present, totalsOf, vat } from '../../../../test/presented.ts'
import type { Invoice, LineItem, Party } from '../../../generated/contract.ts'
import cases from '../pricing/money-cases.json' with { type: 'json' }
import type { PresentSource } from './present.ts'

describe('the head', () => {
	it.each([
		['draft', false, 'draft', 'Draft'],
		['sent', false, 'sent', 'Open'],
		['sent', true, 'overdue', 'Overdue'],
		['overdue', true, 'overdue', 'Overdue'],
		['overdue', false, 'sent', 'Open'],
		['paid', false, 'paid', 'Paid'],
		['cancelled', false, 'cancelled', 'Cancelled'],
	] as const)('says where an invoice stands that is %s (overdue: %s)', (status, isOverdue, key, label) => {
		expect(present({ ...emptyInvoice, status, isOverdue }).status).toEqual({ key, label })
	})

	it('says that an invoice is open whose caller called it paid, and that owes something', () => {
		const invoice = { ...emptyInvoice, status: 'paid', amountDueCents: 1, paidDate: 0, paymentMethod: 'cash' } as const
		expect(present(invoice)).toMatchObject({ status: { key: 'sent', label: 'Open' }, facts: [] })
	})

	it('says nothing of how an invoice was paid that its caller opened again', () => {
		const invoice = { ...emptyInvoice, status: 'sent', amountDueCents: 1, paidDate: 0, paymentMethod: 'cash' } as const
		expect(present(invoice).facts).toEqual([])
	})

	it('has the dates and references there are', () => {
		const dates = { issuedDate: day('2026-03-31T22:30:00Z'), dueDate: day('2026-04-30'), paidDate: day('2026-04-02') }
		const paid = { paymentMethod: 'bank transfer', paymentReference: 'RF18539007547034' }
		expect(present({ ...emptyInvoice, ...dates, ...paid }).facts).toEqual([
			{ label: 'Issued', value: '1 Apr 2026' },
			{ label: 'Due', value: '30 Apr 2026' },
			{ label: 'Paid', value: '2 Apr 2026' },
			{ label: 'Paid by', value: 'bank transfer' },
			{ label: 'Reference', value: 'RF18539007547034' },
		])
		expect(present(emptyInvoice).facts).toEqual([])
		expect(present({ ...emptyInvoice, paymentMethod: 'card' }).facts).toEqual([])
	})

	it('has the service period, as a day when it is one; that of a line stands below its description', () => {
		const [first, last] = [day('2026-03-01'), day('2026-03-31')]
		const periodOf = (periodStart: number | null, periodEnd: number | null) =>
			present({ ...emptyInvoice, periodStart, periodEnd }).facts.map(({ label, value }) => `${label} ${value}`)
		expect(periodOf(first, last)).toEqual(['Service period 1 Mar 2026 – 31 Mar 2026'])
		expect(periodOf(first, first)).toEqual(['Service period 1 Mar 2026'])
		expect(periodOf(null, last)).toEqual(['Service period 31 Mar 2026'])
		const lines = [{ description: 'Hosting', periodStart: first, periodEnd: last }, { description: 'Setup' }]
		expect(present(invoiceOf(lines)).lines.map(({ description }) => description)).toEqual([
			'Hosting\n1 Mar 2026 – 31 Mar 2026',
			'Setup',
		])
	})

	it('calls an invoice below zero a credit note', () => {
		expect(present(invoiceOf([{ unitPriceCents: 100 }])).title).toBe('Invoice')
		expect(present(emptyInvoice).title).toBe('Invoice')
		expect(present(invoiceOf([{ unitPriceCents: -100 }])).title).toBe('Credit note')
	})

	it('has no notes or terms where they are blank', () => {
		expect(present({ ...emptyInvoice, notes: ' \n', paymentTerms: '' })).toMatchObject({ passages: [], footer: null })
		expect(present({ ...emptyInvoice, notes: 'Thank you.\nBye.' }).passages).toEqual([
			{ title: 'Notes', text: 'Thank you.\nBye.' },
		])
	})

	it('has the account for bank transfers as long as something is due, and the register and the footer at its end', () => {
		const account = { holder: null, bankName: 'Musterbank', bic: 'COBADEFFXXX', accountNumber: null, routingNumber: null }
		const seller = party({
			bankAccount: { ...account, iban: 'DE89370400440532013000' },
			registration: 'HRB 1',
			footer: 'Small business,\nno VAT.',
		})
		const text = 'Northlight Studio\nMusterbank\nIBAN DE89 3704 0044 0532 0130 00\nBIC COBADEFFXXX'
		const owed = invoiceOf([{ unitPriceCents: 100 }])
		expect(present(owed, { seller })).toMatchObject({
			passages: [{ title: 'Bank transfer', text }],
			footer: 'HRB 1\nSmall business,\nno VAT.',
		})
		expect(present({ ...owed, status: 'paid', amountDueCents: 0 }, { seller }).passages).toEqual([])
		// An account of which nothing is written has no heading either.
		const nameless = party({ bankAccount: { ...account, bankName: null, iban: null, bic: null } })
		expect(present(owed, { seller: nameless }).passages).toEqual([])
		const foreign = party({
			bankAccount: { ...account, holder: 'Ada', iban: null, bic: null, accountNumber: '12345678', routingNumber: '20-00-00' },
		})
		expect(present(owed, { seller: foreign }).passages).toEqual([
			{ title: 'Bank transfer', text: 'Ada\nMusterbank\nAccount 12345678\nRouting number 20-00-00' },
		])
	})

	it.each([
		['GB', 'Sort code'],
		['United Kingdom', 'Sort code'],
		['Vereinigtes Königreich', 'Sort code'],
		['U.K.', 'Sort code'],
		['Australia', 'BSB'],
		['USA', 'Routing number'],
		['India', 'IFSC'],
		['South Africa', 'Branch code'],
		['Canada', 'Transit number'],
		['Deutschland', 'BLZ'],
		['Atlantis', 'Bankleitzahl'],
		[null, 'Bankleitzahl'],
	])('calls the routing number of an account in %j "%s" in German', (country, label) => {
		const bankAccount = {
			holder: null,
			bankName: null,
			iban: null,
			bic: null,
			accountNumber: '12345678',
			routingNumber: '20-00-00',
		}
		const [passage] = present(invoiceOf([{ unitPriceCents: 100 }]), {
			language: 'de',
			seller: party({ country, bankAccount }),
		}).passages
		expect(passage?.text.split('\n').at(-1)).toBe(`${label} 20-00-00`)
	})

	it.each([
		['Mexico', '032180000118359719', 'CLABE'],
		['MX', '12345678', 'Account'],
		['Argentina', '2850590940090418135201', 'CBU'],
		['France', '032180000118359719', 'Account'],
	])('calls the account number in %s %s "%s"', (country, accountNumber, label) => {
		const bankAccount = { holder: null, bankName: null, iban: null, bic: null, accountNumber, routingNumber: null }
		const [passage] = present(invoiceOf([{ unitPriceCents: 100 }]), { seller: party({ country, bankAccount }) }).passages
		expect(passage?.text.split('\n').at(-1)).toBe(`${label} ${accountNumber}`)
	})

	it('in a locale that there is not is English', () => {
		const document = present(invoiceOf([{ unitPriceCents: 123_456 }]), { locale: 'tlh-KX' })
		expect(document).toMatchObject({ locale: 'en', due: '€1,234.56' })
	})
})

describe('what a line is', () => {
	it('of text is a heading, and one of a discount shows its amount alone when there is one', () => {
		const discount = { kind: 'discount' as const, unitPriceCents: -500 }
		const { lines } = present(
			invoiceOf([
				{ kind: 'text', description: 'Design' },
				{ unitPriceCents: 9_000 },
				{ ...discount, description: '' },
				{ ...discount, quantity: '2' },
			]),
		)
		expect(
			lines.map(({ kind, description, quantity, unitPrice, amount }) => [kind, description, quantity, unitPrice, amount]),
		).toEqual([
			['heading', 'Design', '', '', ''],
			[undefined, 'Design workshop', '1', '€90.00', '€90.00'],
			['discount', 'Discount', '', '', '−€5.00'],
			['discount', 'Design workshop', '2', '−€5.00', '−€10.00'],
		])
	})

	it('without taxes of its own has the tax of its invoice, whose label `Tax` is a word of the document', () => {
		const invoice = invoiceOf([{ unitPriceCents: 100 }], { taxRate: 19 })
		expect(totalsOf(invoice, { language: 'de', locale: 'de-DE' })).toContain(
			'zzgl. Steuer 19\u00a0% auf 1,00\u00a0€: 0,19\u00a0€',
		)
	})
})

describe('a party', () => {
	const address = { addressLine1: 'Street 1', postalCode: '10179', city: 'Berlin', country: 'Germany' }
	const linesOf = (fields: Partial<Party>) => present(emptyInvoice, { seller: party(fields) }).seller

	it('of the seller has its name, address and how to reach it', () => {
		const contact = { contactName: 'Ada Lovelace', addressLine2: '2nd floor', email: 'a@b.example', phone: '+49 30 1' }
		expect(linesOf({ ...address, ...contact, taxId: 'DE123456789' })).toEqual([
			'Northlight Studio',
			'Ada Lovelace',
			'Street 1',
			'2nd floor',
			'10179 Berlin',
			'Germany',
			'a@b.example',
			'+49 30 1',
			'Tax ID DE123456789',
		])
	})

	it('of the buyer has name and address, and an invoice to nobody has none', () => {
		const buyer = party({ ...address, name: 'Acme', email: 'billing@acme.example' })
		expect(present(emptyInvoice, { buyer }).buyer).toEqual(['Acme', 'Street 1', '10179 Berlin', 'Germany'])
		expect(present(emptyInvoice).buyer).toEqual([])
	})

	it.each([
		['Germany', 'Berlin', null, '10179', '10179 Berlin'],
		['Germany', 'Berlin', 'Berlin', '10179', '10179 Berlin'],
		['Italy', 'Milano', 'MI', '20121', '20121 Milano, MI'],
		['USA', 'Austin', 'TX', '78701', 'Austin, TX 78701'],
		['Ireland', 'Dublin', null, 'D02 X658', 'Dublin, D02 X658'],
		['UK', 'London', null, 'SW1A 1AA', 'London, SW1A 1AA'],
		['U.S.', 'New York', 'New York', '10001', 'New York, New York 10001'],
		['canada', 'Toronto', 'ON', 'M5H 2N2', 'Toronto, ON M5H 2N2'],
		['Australia', 'Sydney', null, '2000', 'Sydney, 2000'],
		['France', 'Paris', null, null, 'Paris'],
		['United States', null, 'TX', null, 'TX'],
	])('in %s has the city line of that country', (country, city, state, postalCode, expected) => {
		expect(linesOf({ country, city, state, postalCode })).toEqual(['Northlight Studio', expected, country])
	})

	it('says nothing twice and leaves no line empty', () => {
		const blank = { addressLine1: ' ', addressLine2: '', email: null, phone: '' }
		expect(linesOf({ ...blank, contactName: 'Northlight Studio ', city: 'Singapore', country: 'Singapore' })).toEqual([
			'Northlight Studio',
			'Singapore',
		])
	})

	it('from before sellers had a phone and a tax number has neither', () => {
		const { phone, taxId, ...old } = party(address)
		expect(present(emptyInvoice, { seller: old as Party }).seller).toHaveLength(4)
	})
})

describe('a line', () => {
	const first = (line: Partial<LineItem>, fields?: Partial<Invoice>, source?: Partial<PresentSource>) =>
		present(invoiceOf([line], fields), source).lines[0]

	it('reads with its unit, price and amount', () => {
		const line = { description: 'Workshop\nin two parts', quantity: '1.5', unit: 'day', unitPriceCents: 90_000 }
		expect(first(line, { taxRate: 19, taxLabel: 'VAT' })).toEqual({
			description: 'Workshop\nin two parts',
			quantity: '1.5 day',
			unitPrice: '€900.00',
			discount: '',
			tax: 'VAT 19%',
			amount: '€1,350.00',
		})
		expect(first(line, { taxRate: 19, taxLabel: 'VAT' }, { locale: 'de-DE' })).toMatchObject({
			quantity: '1,5 day',
			tax: 'VAT 19\u00a0%',
			amount: '1.350,00\u00a0€',
		})
	})

	it('has a price below a cent with all its places', () => {
		const line = { quantity: '250000', unit: 'call', unitPriceCents: '0.0125' }
		expect(first(line)).toMatchObject({ quantity: '250,000 call', unitPrice: '€0.000125', amount: '€31.25' })
	})

	it('that charges time entries shows their hours as the timesheet does', () => {
		const line = { kind: 'time', quantity: '0.333333', unit: 'hour', durationSeconds: 1200, unitPriceCents: 9000 } as const
		expect(first(line)?.quantity).toBe('0.3333 hour')
	})

	it('from before there were time entries shows its quantity', () => {
		const { durationSeconds, ...old } = { ...emptyLine, quantity: '2.5' }
		expect(present({ ...emptyInvoice, lineItems: [old as LineItem] }).lines[0]?.quantity).toBe('2.5')
	})

	it('of words has nothing but them', () => {
		const words = { quantity: '', unitPrice: '', discount: '', tax: '', amount: '' }
		expect(first({ kind: 'text', description: 'March' }, { taxRate: 19 })).toEqual({
			kind: 'heading',
			description: 'March',
			...words,
		})
	})

	it.each([
		[{ discountPercent: '10' }, '−10%'],
		[{ discountPercent: '33.3333' }, '−33.3333%'],
		[{ discountCents: 5000 }, '−€50.00'],
		[{ discountCents: -5000 }, '€50.00'],
		[{ discountPercent: '0' }, ''],
		[{ discountCents: 0 }, ''],
	])('shows what is taken off: %j', (line, expected) => {
		const document = present(invoiceOf([{ unitPriceCents: 10_000, ...line }, {}]))
		expect(document.lines[0]?.discount).toBe(expected)
		expect(document.columns.discount).toBe(expected !== '')
	})

	it.each([
		['is one for the whole invoice', [{}, {}], ['VAT 19%', 'VAT 19%'], false],
		['is the same on every line', [{ taxes: [vat('7')] }, { taxes: [vat('7')] }], ['VAT 7%', 'VAT 7%'], false],
		['is spoilt by words only', [{}, { kind: 'text' }], ['VAT 19%', ''], false],
		['differs', [{}, { taxes: [vat('7')] }], ['VAT 19%', 'VAT 7%'], true],
		['is missing on some', [{}, { taxes: [] }], ['VAT 19%', ''], true],
		['is in some prices', [{}, { taxes: [vat('19', true)] }], ['VAT 19%', 'VAT 19% incl.'], true],
		['is two', [{}, { taxes: [vat('5'), vat('9.975', false, 'QST')] }], ['VAT 19%', 'VAT 5%, QST 9.975%'], true],
	] as [string, Partial<LineItem>[], string[], boolean][])(
		'has a tax column or not when the tax %s',
		(_, lines, texts, shown) => {
			const document = present(invoiceOf(lines, { taxRate: 19, taxLabel: 'VAT' }))
			expect(document.lines.map((line) => line.tax)).toEqual(texts)
			expect(document.columns.tax).toBe(shown)
		},
	)

	it('does not repeat a percentage that stands in the name of the tax', () => {
		expect(first({ taxes: [vat('19', false, 'MwSt. 19 %')] })?.tax).toBe('MwSt. 19 %')
	})
})

describe('the totals', () => {
	const taxed = { taxRate: 19, taxLabel: 'VAT' }

	it('add taxes to the subtotal', () => {
		const invoice = invoiceOf([{ unitPriceCents: 135_000 }, { unitPriceCents: 1000, taxes: [vat('7')] }], taxed)
		expect(totalsOf(invoice)).toEqual([
			'Subtotal: €1,360.00',
			'VAT 19% on €1,350.00: €256.50',
			'VAT 7% on €10.00: €0.70',
			'Total: €1,617.20',
			'Amount due: €1,617.20',
		])
	})

	it('name the taxes that the prices contain below the total', () => {
		expect(totalsOf(invoiceOf([{ unitPriceCents: 10_000, taxes: [vat('19', true)] }]))).toEqual([
			'Total: €100.00',
			'Includes VAT 19% on €84.03: €15.97',
			'Amount due: €100.00',
		])
		expect(totalsOf(invoiceOf([{ unitPriceCents: 10_000, taxes: [vat('19', true)] }, { unitPriceCents: 5000 }], taxed))).toEqual([
			'Sum of lines: €150.00',
			'VAT 19% on €50.00: €9.50',
			'Total: €159.50',
			'Includes VAT 19% on €84.03: €15.97',
			'Amount due: €159.50',
		])
	})

	it('of an invoice without tax are the total', () => {
		expect(totalsOf(invoiceOf([{ unitPriceCents: 10_000 }]))).toEqual(['Total: €100.00', 'Amount due: €100.00'])
	})

	it('of an invoice without lines are what was written', () => {
		const written = { subtotalCents: 10_000, taxCents: 1900, totalCents: 11_900, amountDueCents: 11_900 }
		expect(totalsOf({ ...emptyInvoice, ...written, ...taxed }).slice(0, 3)).toEqual([
			'Subtotal: €100.00',
			'VAT 19%: €19.00',
			'Total: €119.00',
		])
		expect(totalsOf({ ...emptyInvoice, ...written })[1]).toBe('Tax: €19.00')
		expect(totalsOf({ ...emptyInvoice, subtotalCents: 9000, totalCents: 10_000 })).toEqual(['Subtotal: €90.00', 'Total: €100.00'])
		expect(totalsOf(emptyInvoice)).toEqual(['Total: €0.00'])
		expect(totalsOf({ ...emptyInvoice, totalCents: 5000 })).toEqual(['Total: €50.00'])
		expect(totalsOf({ ...emptyInvoice, taxCents: 800, totalCents: 5000 })).toEqual(['Tax: €8.00', 'Total: €50.00'])
	})

	it('say what was paid and what is left', () => {
		const lines = [{ unitPriceCents: 10_000 }]
		expect(totalsOf(invoiceOf(lines, { amountPaidCents: 4000 }))).toEqual([
			'Total: €100.00',
			'Amount paid: €40.00',
			'Amount due: €60.00',
		])
		expect(totalsOf(invoiceOf(lines, { amountPaidCents: 12_000 }))[2]).toBe('Credit: €20.00')
		expect(totalsOf(invoiceOf(lines, { status: 'cancelled', amountDueCents: 0 }))).toEqual(['Total: €100.00'])
		expect(totalsOf(invoiceOf([{ unitPriceCents: -10_000 }]))).toEqual(['Total: −€100.00', 'Credit: €100.00'])
	})

	it('stand out where they are the total and what is due', () => {
		const { totals } = present(invoiceOf([{ unitPriceCents: 100 }], { ...taxed, amountPaidCents: 1 }))
		expect(totals.map(({ kind }) => kind)).toEqual(['plain', 'plain', 'total', 'plain', 'due'])
	})

	it.each([
		['sent', 100, '€1.00'],
		['draft', 100, '€1.00'],
		['sent', 0, null],
		['sent', -100, null],
		['paid', 100, '€1.00'],
		['paid', -100, null],
		['cancelled', 0, null],
	] as const)(
		'of an invoice that is %s with %i due ask for %s, and only then say where to pay',
		(status, amountDueCents, due) => {
			const document = present({ ...emptyInvoice, status, amountDueCents }, { paymentUrl: 'https://pay.example/1' })
			expect(document).toMatchObject({ due, paymentUrl: due && 'https://pay.example/1' })
		},
	)
})

describe('what is printed adds up', () => {
	const cents = (text = '') => Number(text.replace('−', '-').replace(/[^\d-]/g, ''))
	const sum = (texts: string[]) => texts.reduce((total, text) => total + cents(text), 0)

	function check(invoice: Invoice): void {
		const { lines, totals } = present(invoice)
		const total = totals.findIndex(({ kind }) => kind === 'total')
		const [first, ...added] = totals.slice(0, total)
		const printed = sum(lines.map((line) => line.amount))
		expect(first ? cents(first.value) : cents(totals[total]?.value)).toBe(printed)
		expect(printed + sum(added.map(({ value }) => value))).toBe(invoice.totalCents)
		expect(cents(totals[total]?.value)).toBe(invoice.totalCents)
		const contained = totals.slice(total).filter(({ label }) => label.startsWith('Includes'))
		expect(sum([...added, ...contained].map(({ value }) => value))).toBe(invoice.taxCents)
	}

	it.each(cases.invoices)('$name', ({ taxRounding, inclusive, lines, expect: expected }) => {
		const items = lines.map(({ percent, ...line }: Partial<LineItem> & { percent?: string; percents?: string[] }) => ({
			...line,
			taxes: (line.percents ?? [percent ?? '0']).map((each) => vat(each, inclusive)),
		}))
		const invoice = invoiceOf(items, { taxRounding: taxRounding === 'line' ? 'line' : 'document' })
		expect(invoice).toMatchObject(expected)
		check(invoice)
	})

	it('whatever the lines, their taxes and where tax is rounded', () => {
		const taxes = fc.boolean().chain((inclusive) =>
			fc.array(
				fc.constantFrom('5', '9.975', '19').map((p) => vat(p, inclusive)),
				{ maxLength: 2 },
			),
		)
		const line: fc.Arbitrary<Partial<LineItem>> = fc.record({
			kind: fc.constantFrom('item' as const, 'item' as const, 'time' as const, 'text' as const),
			quantity: fc.constantFrom('1', '-1', '0.5', '2.333333'),
			unitPriceCents: fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.constantFrom('0.5', '33.333333')),
			discountPercent: fc.constantFrom(null, '12.5'),
			taxes: fc.option(taxes),
		})
		const rounding = fc.constantFrom('document' as const, 'line' as const)
		fc.assert(
			fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), rounding, (lines, taxRounding) => {
				check(invoiceOf(lines, { taxRounding, taxRate: 8.1 }))
			}),
			{ numRuns: 500 },
		)
	})
})
