import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { extractText, getDocumentProxy } from 'unpdf'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { labels, passages } from '../../../test/documents.ts'
import type { DocumentLine, DocumentTable, InvoiceDocument } from '../../generated/contract.ts'
import { createPdfRenderer } from './pdf.ts'

const createdAt = Date.UTC(2026, 2, 31, 10, 20, 30)
const owner = 'org_1'
const renderer = createPdfRenderer()
afterAll(() => renderer.close())

const line = (description: string, rest: Partial<DocumentLine> = {}): DocumentLine => ({
	description,
	quantity: '3 day',
	unitPrice: '€750.00',
	discount: '',
	tax: '',
	amount: '€2,250.00',
	...rest,
})

const invoice = (over: Partial<InvoiceDocument> = {}): InvoiceDocument => ({
	language: 'en',
	locale: 'en-IE',
	title: 'Invoice',
	number: 'INV-0001',
	status: { key: 'sent', label: 'Sent' },
	seller: ['Nordlicht Studio', 'Torstraße 140', 'Berlin'],
	buyer: ['Acme Industries', '12 rue de la Paix', 'Paris'],
	facts: [{ label: 'Due', value: '30 April 2026' }],
	labels,
	columns: { discount: false, tax: false },
	lines: [line('Design')],
	totals: [
		{ label: 'Subtotal', value: '€2,250.00', kind: 'plain' },
		{ label: 'VAT 19% on €2,250.00', value: '€427.50', kind: 'plain' },
		{ label: 'Total', value: '€2,677.50', kind: 'total' },
		{ label: 'Amount due', value: '€2,677.50', kind: 'due' },
	],
	due: '€2,677.50',
	passages: [],
	footer: null,
	viewUrl: null,
	paymentUrl: null,
	rates: null,
	timesheet: null,
	...over,
})

const timesheet = (entries: number): DocumentTable => ({
	title: 'Timesheet',
	columns: [
		{ label: 'Date', numeric: false },
		{ label: 'Work', numeric: false },
		{ label: 'Hours', numeric: true },
	],
	rows: Array.from({ length: entries }, (_, index) => ['1 March 2026', `Entry ${index + 1}`, '1.25']),
	sum: ['Total', '', '999.75'],
})

const manyLines = (count: number) => Array.from({ length: count }, (_, index) => line(`Work package ${index + 1}.`))

/** A copy, because PDF.js takes the bytes that it reads away from everybody else. */
const render = async (document: InvoiceDocument) => (await renderer.render(document, { owner, createdAt })).slice()

async function read(document: InvoiceDocument) {
	const proxy = await getDocumentProxy(await render(document))
	// The text as a reader copies it, without the zero-width spaces where a long word may break.
	const pages = (await extractText(proxy)).text.map((page) => page.replaceAll('\u200b', '').replace(/\s+/gu, ' '))
	return { proxy, pages, text: pages.join(' ') }
}

const count = (text: string, part: string) => text.split(part).length - 1

describe('a PDF', () => {
	it('has everything the document says', async () => {
		const { text } = await read(
			invoice({
				columns: { discount: true, tax: true },
				lines: [line('Design'), line('Build\nwith tests', { discount: '10 %', tax: 'VAT 7%', amount: '€1.23' })],
				passages: passages({ notes: 'Thank you.\n\nSee you.', terms: 'Within 30 days.' }),
				footer: 'HRB 1234',
			}),
		)
		for (const part of ['INV-0001', 'Nordlicht Studio Torstraße 140 Berlin', 'Acme Industries 12 rue de la Paix Paris'])
			expect(text).toContain(part)
		for (const part of ['Due 30 April 2026', 'Design 3 day €750.00 €2,250.00', 'Build with tests', '10 % VAT 7% €1.23'])
			expect(text).toContain(part)
		for (const part of ['Subtotal €2,250.00', 'VAT 19% on €2,250.00 €427.50', 'Total €2,677.50', 'Amount due €2,677.50'])
			expect(text).toContain(part)
		for (const part of ['Notes Thank you. See you.', 'Payment terms Within 30 days.', 'HRB 1234', 'INV-0001 · Page 1 of 1'])
			expect(text).toContain(part)
	})

	it('leaves out the parts that the document does not have', async () => {
		const { text, proxy } = await read(invoice({ buyer: [], facts: [], lines: [], due: null, number: '', seller: [] }))
		for (const part of ['Billed to', 'Description', 'Discount', 'Tax', 'Notes', 'Pay']) expect(text).not.toContain(part)
		expect(text).toContain('Total €2,677.50')
		expect(proxy.numPages).toBe(1)
	})

	it.each(['draft', 'paid', 'cancelled'] as const)('says that an invoice is %s', async (key) => {
		expect((await read(invoice({ status: { key, label: `It is ${key}` } }))).text).toContain(`It is ${key}`)
	})

	it('runs over as many pages as it needs, with the head of the table on each', async () => {
		const { pages, text } = await read(invoice({ lines: manyLines(100), timesheet: timesheet(120), rates: timesheet(2) }))
		expect(pages.length).toBeGreaterThan(5)
		for (let index = 1; index <= 100; index++) expect(count(text, `Work package ${index}.`)).toBe(1)
		for (const page of pages.filter((page) => page.includes('Work package'))) expect(page).toContain('Description Quantity')
		for (const page of pages.filter((page) => page.includes('Entry'))) expect(page).toContain('Date Work Hours')
		for (const [index, page] of pages.entries()) expect(page).toContain(`INV-0001 · Page ${index + 1} of ${pages.length}`)
		// Each later page says whose it is.
		for (const page of pages.slice(1)) expect(page).toMatch(/^Nordlicht Studio Acme Industries /)
		expect(count(text, 'Total 999.75')).toBe(2)
		expect(pages.find((page) => page.includes('Subtotal'))).toContain('Amount due €2,677.50')
	})

	it('does not split a line of the invoice between two pages', async () => {
		const lines = Array.from({ length: 40 }, (_, index) => line(`Begin ${index}.\nmore\nmore\nEnd ${index}.`))
		const { pages } = await read(invoice({ lines }))
		for (const page of pages) expect(count(page, 'Begin')).toBe(count(page, 'End'))
	})

	/** The words of a page from top to bottom, with how far above the page's lower edge each stands, in points. */
	const wordsOf = async (proxy: Proxy) => {
		const pages = await Promise.all(Array.from({ length: proxy.numPages }, (_, index) => proxy.getPage(index + 1)))
		const contents = await Promise.all(pages.map((page) => page.getTextContent()))
		return contents.map(({ items }) =>
			items.flatMap((item) =>
				'str' in item && item.str.trim() ? [{ text: item.str.trim(), y: item.transform[5] as number }] : [],
			),
		)
	}

	const rows = (count: number) => Array.from({ length: count }, (_, index) => `Row${index + 1}.`)
	const tall = (count: number) => rows(count).join('\n')
	const heights = [1, 2, 8, 9, 20, 21, 25, 30, 40, 60, 75, 120, 200]
	const bare = { quantity: '', unitPrice: '', discount: '', tax: '', amount: '' }
	const sentence = (count: number) => rows(count).join(' ')
	type Shape = (count: number) => Partial<InvoiceDocument>
	const shapes: [string, Shape][] = [
		['a line', (count) => ({ lines: [line(tall(count)), line('After')] })],
		['a line below others', (count) => ({ lines: [...manyLines(9), line(tall(count))] })],
		['a line without breaks', (count) => ({ lines: [line(sentence(count * 8))] })],
		['a heading', (count) => ({ lines: [line(tall(count), { ...bare, kind: 'heading' }), line('After')] })],
		['a line below a heading', (count) => ({ lines: [line('Head', { ...bare, kind: 'heading' }), line(tall(count))] })],
		['a discount', (count) => ({ lines: [line('Design'), line(tall(count), { kind: 'discount' })] })],
		['a line beside a discount', (count) => ({ lines: [line(tall(count)), line('Off', { kind: 'discount' })] })],
		['a unit', (count) => ({ lines: [line('Design', { quantity: sentence(count) })] })],
		[
			'an entry of the timesheet',
			(count) => ({ timesheet: { ...timesheet(9), rows: [['1 March', tall(count), '1.25'], ...timesheet(9).rows] } }),
		],
		['notes', (count) => ({ passages: passages({ notes: tall(count) }) })],
		[
			'totals',
			(count) => ({
				totals: [
					...rows(count).map((label) => ({ label, value: '1', kind: 'plain' as const })),
					{ label: 'Total', value: '€2.00', kind: 'total' },
				],
			}),
		],
		['a footer', (count) => ({ footer: tall(count) })],
	]

	it.each(shapes)(
		'breaks %s of any height across pages: nothing is cut off, or stands below the number of the page',
		async (_, shape) => {
			for (const height of heights) {
				const document = invoice(shape(height))
				const { proxy } = await read(document)
				const pages = await wordsOf(proxy)
				const rowsOf = (text: string) => [...text.matchAll(/Row(\d+)\./g)].map(([, row]) => Number(row))
				const found = rowsOf(pages.map((page) => page.map(({ text }) => text).join(' ')).join(' '))
				expect(found, `height ${height}`).toEqual(rowsOf(JSON.stringify(document)))
				for (const [index, page] of pages.entries()) {
					const number = page.find(({ text }) => text.endsWith(`Page ${index + 1} of ${pages.length}`))
					expect(number, `page ${index + 1} at height ${height}`).toBeDefined()
					for (const { text, y } of page) expect(y, `${text} at height ${height}`).toBeGreaterThanOrEqual(number?.y as number)
				}
			}
		},
	)

	it('begins its table on the first page, whatever stands in it', async () => {
		for (const [, shape] of shapes.slice(0, 7))
			for (const height of heights) {
				const [first = []] = await wordsOf((await read(invoice({ timesheet: null, ...shape(height) }))).proxy)
				const text = first.map(({ text }) => text).join(' ')
				expect(text, `height ${height}`).toMatch(/Description .*(Row1\.|Work package 1\.|Design|Head)/)
			}
	})

	it('links to where it can be paid', async () => {
		const { proxy, text } = await read(invoice({ paymentUrl: 'https://pay.example/i/1?a=b&c=%20' }))
		const annotations = await (await proxy.getPage(1)).getAnnotations()
		expect(annotations.map(({ subtype, url }) => [subtype, url])).toEqual([['Link', 'https://pay.example/i/1?a=b&c=%20']])
		expect(text).toContain('Pay online')
	})

	it('links to the page that shows it, unless the button to pay leads there', async () => {
		const linksOf = async (viewUrl: string | null, paymentUrl: string | null) => {
			const { proxy, text } = await read(invoice({ viewUrl, paymentUrl }))
			const annotations = await (await proxy.getPage(1)).getAnnotations()
			return [text.includes('View online'), ...annotations.map(({ url }) => url)]
		}
		const [page, pay] = ['https://remit.example/view/invoice/t', 'https://pay.example/1']
		expect(await linksOf(page, null)).toEqual([true, page])
		expect(await linksOf(page, page)).toEqual([false, page])
		expect(await linksOf(null, pay)).toEqual([false, pay])
	})

	it.each([
		['en-US', 612, 792],
		['en-GB', 595, 842],
		['de', 595, 842],
	])('in %s has the paper of its region', async (locale, width, height) => {
		const { proxy } = await read(invoice({ locale }))
		expect((await proxy.getPage(1)).view.map(Math.round)).toEqual([0, 0, width, height])
	})
})

describe('text', () => {
	it('is never read as markup', async () => {
		const markup = '#panic("x") *bold* _it_ $x^2$ <label> @ref \\ `raw` // gone /* gone */ = Title - item ~ -- "quoted" [x] #let'
		const { text, pages } = await read(
			invoice({
				number: markup,
				title: markup,
				seller: [markup, markup],
				buyer: [markup],
				facts: [{ label: markup, value: markup }],
				lines: [line(markup, { quantity: markup })],
				totals: [{ label: markup, value: '1', kind: 'total' }],
				passages: passages({ notes: markup, terms: markup }),
				footer: markup,
			}),
		)
		// Each page has the number, and each later one seller and buyer.
		const places = 13 + pages.length + 2 * (pages.length - 1)
		expect(count(text.replace(/\s/gu, ''), markup.replace(/\s/gu, ''))).toBe(places)
	})

	it.each([
		['Japanese', 'ja-JP', '株式会社ノルドリヒト、ひらがなとカタカナ'],
		['Chinese', 'zh-CN', '网站托管服务，第一年'],
		['traditional Chinese', 'zh-Hant-TW', '網站託管服務，第一年'],
		['Korean', 'ko-KR', '주식회사 한국어 호스팅'],
		['Greek and Cyrillic', 'el', 'Ευχαριστώ, спасибо'],
		['Vietnamese', 'vi', 'Cảm ơn quý khách'],
	])('in %s can be read and copied, from fonts in the file', async (_, locale, words) => {
		const { text, proxy } = await read(
			invoice({ locale, lines: [line(words)], passages: passages({ notes: words }), seller: [words] }),
		)
		expect(count(text, words)).toBe(3)
		const { fonts, withoutFile } = await fontsOf(proxy)
		expect(fonts.length).toBeGreaterThan(0)
		expect(withoutFile).toEqual([])
	})

	// Noto Sans Arabic draws dots as separate glyphs, so a copy has every letter but repeats some.
	it('in Arabic has its letters, and stands on the right of an Arabic invoice', async () => {
		const words = 'شركة النور للاستشارات'
		const { text, proxy } = await read(invoice({ locale: 'ar-EG', seller: [words] }))
		for (const letter of words) expect(text).toContain(letter)
		const { items } = await (await proxy.getPage(1)).getTextContent()
		const places = items.flatMap((item) => ('str' in item && /\p{Script=Arabic}/u.test(item.str) ? [item.transform[4]] : []))
		expect(Math.min(...places)).toBeGreaterThan(300)
		expect((await fontsOf(proxy)).withoutFile).toEqual([])
	})

	it('that no font has becomes one U+FFFD for each grapheme', async () => {
		const { text } = await read(invoice({ passages: passages({ notes: 'Thanks 😀👨‍👩‍👧! Family\ue000 name' }), seller: ['ไทย'] }))
		expect(text).toContain('Thanks \ufffd\ufffd! Family\ufffd name')
		expect(count(text, '\ufffd')).toBe(6)
	})

	it.each([
		['controls', 'a\u0000b\u0007c\u001b[0md\u007fe\u0085f\tg\r\nh'],
		['invisible characters', '\ufeff\u200b\u200d\u200c\u00ad\u2060\u{e0001}\ufe0f'],
		['marks of direction', '\u202e\u2066\u200f\u061c right \u202c'],
		['lone surrogates and no characters', '\ud800 \udc00 \uffff \u{10ffff}'],
		['marks on letters of another script', '日\u0301 ع\u0308 \u0301 a\u0e31 "\u0301 \ufffd\u0301 \u0915\u094d\u200d'],
		['lines of letters from right to left that no font has', 'ދ ިވެހި ރާއްޖޭގެ ދަތުރު '.repeat(40)],
		['every letter of such a script', Array.from({ length: 64 }, (_, index) => String.fromCodePoint(0x780 + index)).join(' ')],
		['a heap of marks', `a${'\u0301'.repeat(2000)}`],
		['a long word', 'x'.repeat(10_000)],
		['long words without a blank in other scripts', `${'日'.repeat(5000)}${'ع'.repeat(5000)}`],
		['nothing but line breaks', '\n'.repeat(500)],
	])('with %s is set all the same', async (_, odd) => {
		const document = invoice({
			passages: passages({ notes: odd }),
			seller: [odd, odd],
			lines: [line(odd, { quantity: odd.slice(0, 100), tax: odd.slice(0, 100) })],
		})
		expect((await read({ ...document, columns: { discount: false, tax: true } })).text).toContain('Total €2,677.50')
	})

	it('wraps within its column however long its words are', async () => {
		const { proxy, text } = await read(
			invoice({ lines: [line('w'.repeat(300))], passages: passages({ notes: 'n'.repeat(10_000) }) }),
		)
		expect(count(text.replace(/\s/gu, ''), 'n'.repeat(1000))).toBeGreaterThan(0)
		const { items } = await (await proxy.getPage(1)).getTextContent()
		const edges = items.map((item) => ('str' in item ? item.transform[4] + item.width : 0))
		// The margin is 20 mm. Only PDF.js gives a zero-width space a width.
		expect(Math.max(...edges)).toBeLessThan(595 - 57 + 5)
	})
})

describe('the file', () => {
	it('is PDF/A-3b, tagged, and says what it is and that its words are English', async () => {
		const { proxy } = await read(invoice({ locale: 'de-DE' }))
		const { info, metadata } = await proxy.getMetadata()
		expect(metadata.get('pdfaid:part')).toBe('3')
		expect(metadata.get('pdfaid:conformance')).toBe('B')
		expect(info).toMatchObject({ Title: 'Invoice INV-0001', Author: 'Nordlicht Studio', Language: 'en' })
		expect(info).toMatchObject({ CreationDate: 'D:20260331102030Z' })
		expect(await proxy.getMarkInfo()).toMatchObject({ Marked: true })
		const roles = JSON.stringify(await (await proxy.getPage(1)).getStructTree())
		for (const role of ['H1', 'Table', 'THead', 'TH', 'TD']) expect(roles).toContain(`"role":"${role}"`)
	})

	it('has the same bytes each time, from whichever process', async () => {
		const document = invoice({
			lines: manyLines(50),
			passages: passages({ notes: '日本語 عربي 😀' }),
			timesheet: timesheet(30),
			paymentUrl: 'https://pay.example',
		})
		const first = await render(document)
		await render(invoice({ number: 'INV-0002' }))
		const again = await render(document)
		const other = createPdfRenderer()
		const elsewhere = await other.render(document, { owner, createdAt })
		await other.close()
		expect(Buffer.compare(first, again)).toBe(0)
		expect(Buffer.compare(first, elsewhere)).toBe(0)
		const later = await renderer.render(document, { owner, createdAt: createdAt + 1000 })
		expect(Buffer.compare(first, later)).not.toBe(0)
	})
})

describe('the renderer', () => {
	afterEach(() => vi.useRealTimers())
	const long = invoice({ lines: manyLines(500), timesheet: timesheet(500) })

	it('does not hold up the event loop', async () => {
		await render(invoice())
		const delay = monitorEventLoopDelay({ resolution: 1 })
		let done = false
		const rendered = render(long).finally(() => {
			done = true
		})
		let ticks = 0
		delay.enable()
		while (!done) {
			await new Promise((resolve) => setTimeout(resolve, 1))
			ticks++
		}
		delay.disable()
		expect((await getDocumentProxy(await rendered)).numPages).toBeGreaterThan(25)
		expect(ticks).toBeGreaterThan(20)
		expect(delay.percentile(90) / 1e6).toBeLessThan(50)
	})

	it('passes on Typst’s error about a document, and renders the next', async () => {
		const broken = render(invoice({ timesheet: { ...timesheet(1), rows: [['too few']] } }))
		await expect(broken).rejects.toThrow(/Typst: array index out of bounds/)
		await expect(render(invoice({ paymentUrl: '' }))).rejects.toThrow(/Typst: .*URL/)
		expect(await render(invoice())).toBeInstanceOf(Uint8Array)
	})

	it('answers simultaneous renders each with its own document', async () => {
		const numbers = ['INV-1', 'INV-2', 'INV-3', 'INV-4']
		const texts = await Promise.all(numbers.map(async (number) => (await read(invoice({ number }))).text))
		for (const [index, text] of texts.entries()) expect(text).toContain(`${numbers[index]} · Page 1 of 1`)
	})

	it('fails the render under way when its process dies, and goes on with the others in a new one', async () => {
		const mortal = createPdfRenderer()
		const started = nextProcess()
		const renders = [mortal.render(long, { owner, createdAt }), mortal.render(invoice(), { owner, createdAt })]
		const settled = Promise.allSettled(renders)
		;(await started).kill('SIGKILL')
		expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
		await expect(renders[0]).rejects.toThrow('The PDF process ended')
		expect(await renders[1]).toEqual(await render(invoice()))
		await mortal.close()
	})

	it('ends its process when idle, never during a render', async () => {
		vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
		const resting = createPdfRenderer({ renderMs: 1_000_000 })
		const started = nextProcess()
		const rendered = resting.render(invoice(), { owner, createdAt })
		const ended = once(await started, 'exit')
		vi.advanceTimersByTime(90_000)
		await rendered
		vi.advanceTimersByTime(90_000)
		await ended
		expect(await resting.render(invoice({ number: '2' }), { owner, createdAt })).toBeInstanceOf(Uint8Array)
		await resting.close()
	})

	it('fails all renders when it is closed, and closes without ever having rendered', async () => {
		await createPdfRenderer().close()
		const closing = createPdfRenderer()
		const renders = [long, invoice()].map((document) => closing.render(document, { owner, createdAt }))
		const failed = Promise.allSettled(renders)
		await closing.close()
		const messages = (await failed).map((result) => result.status === 'rejected' && result.reason.message)
		expect(messages).toEqual(['The PDF process ended', 'The PDF renderer was closed'])
	})
})

/** The next process that this one starts. */
const nextProcess = () =>
	new Promise<ChildProcess>((resolve) => {
		const listener = (message: unknown) => {
			unsubscribe('child_process', listener)
			resolve((message as { process: ChildProcess }).process)
		}
		subscribe('child_process', listener)
	})

type Proxy = Awaited<ReturnType<typeof getDocumentProxy>>

async function fontsOf(proxy: Proxy) {
	const page = await proxy.getPage(1)
	await page.getOperatorList()
	const { items } = await page.getTextContent()
	const names = new Set(items.flatMap((item) => ('fontName' in item ? [item.fontName] : [])))
	const fonts = [...names].map((name) => page.commonObjs.get(name) as { name: string; missingFile: boolean })
	return { fonts, withoutFile: fonts.filter((font) => font.missingFile).map((font) => font.name) }
}
