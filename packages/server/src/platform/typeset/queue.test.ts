// Who waits for whom at the PDF renderer, how long, and what is rendered at all.
import { afterAll, describe, expect, it } from 'vitest'
import { labels, passages } from '../../../test/documents.ts'
import type { InvoiceDocument } from '../../generated/contract.ts'
import { createPdfRenderer, type PdfMeta } from './pdf.ts'
import { Turns } from './turns.ts'

const renderer = createPdfRenderer({ renderMs: 6_000, visitorMs: 1, waitingOfOwner: 2 })
afterAll(() => renderer.close())

const render = (owner: string, number: string, meta: Partial<PdfMeta> = {}, notes: string | null = null) =>
	renderer.render(document(number, notes), { owner, createdAt: 0, ...meta })

const document = (number: string, notes: string | null): InvoiceDocument => ({
	language: 'en',
	locale: 'en-IE',
	title: 'Invoice',
	number,
	status: { key: 'sent', label: 'Sent' },
	seller: [],
	buyer: [],
	facts: [],
	labels,
	columns: { discount: false, tax: false },
	lines: [],
	totals: [{ label: 'Total', value: '1', kind: 'total' }],
	due: null,
	passages: passages(notes === null ? {} : { notes }),
	footer: null,
	viewUrl: null,
	paymentUrl: null,
	rates: null,
	timesheet: null,
})

/** Takes Typst far longer than the limit of these tests. */
const endless = 'Some words of text. '.repeat(500_000)

describe('turns', () => {
	const limits = { ofOwner: 10, inAll: 100 }
	const turn = (name: string, isFirst = true) => ({ owner: name[0] as string, name, isFirst })
	const takeAll = (turns: Turns<ReturnType<typeof turn>>) => {
		const names: string[] = []
		for (let next = turns.next(); next; next = turns.next()) {
			names.push(next.name)
			turns.done(next)
		}
		return names
	}

	it('go around the owners, however many of one wait', () => {
		const turns = new Turns<ReturnType<typeof turn>>(limits)
		for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) turns.add(turn(name))
		expect(takeAll(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
	})

	it('are for one of an owner at once', () => {
		const turns = new Turns<ReturnType<typeof turn>>(limits)
		for (const name of ['a1', 'a2', 'b1']) turns.add(turn(name))
		const first = turns.next()
		expect([first?.name, turns.next()?.name, turns.next()]).toEqual(['a1', 'b1', undefined])
		turns.done(first as ReturnType<typeof turn>)
		expect(turns.next()?.name).toBe('a2')
	})

	it('are for so many of an owner, and so many in all', () => {
		const turns = new Turns<ReturnType<typeof turn>>({ ofOwner: 2, inAll: 3 })
		const added = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => turns.add(turn(name)))
		expect(added).toEqual([true, true, false, true, false])
		turns.next()
		expect(turns.add(turn('c2'))).toBe(true)
	})

	it("put an owner's own before those of its visitors", () => {
		const turns = new Turns<ReturnType<typeof turn>>(limits)
		for (const name of ['a1', 'a2']) turns.add(turn(name, false))
		turns.add(turn('a3'))
		expect(takeAll(turns)).toEqual(['a3', 'a1', 'a2'])
	})
})

describe('a render', () => {
	it('that takes too long ends with 503, holds up no other organization, and those behind it are rendered', async () => {
		const ended: string[] = []
		const long = render('org_1', '1', {}, endless).finally(() => ended.push('long'))
		const failed = expect(long).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '60' } })
		const behind = render('org_1', '2').finally(() => ended.push('behind'))
		await Promise.all([failed, behind, render('org_2', '1').finally(() => ended.push('other'))])
		expect(ended).toEqual(['other', 'long', 'behind'])
	})

	it('for which no process can start is rejected with 503, and the next one starts another', async () => {
		const other = createPdfRenderer({ renderMs: 6_000, visitorMs: 1, waitingOfOwner: 2 })
		const { execPath } = process
		process.execPath = '/nowhere/node'
		const failed = other.render(document('12', null), { owner: 'org_9', createdAt: 0 })
		process.execPath = execPath
		await expect(failed).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '10' } })
		expect(await other.render(document('12', null), { owner: 'org_9', createdAt: 0 })).toBeInstanceOf(Uint8Array)
		await other.close()
	})

	it('of a logo has little time, is rejected with no 503, and leaves the process to others', async () => {
		const strict = createPdfRenderer({ logoMs: 1 })
		const data = Buffer.from(
			`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${'<rect width="9" height="9"/>'.repeat(5_000)}</svg>`,
		).toString('base64')
		const rejected = await strict.tryLogo({ format: 'svg', width: 9, height: 9, data }, 'org_1').catch((error) => error)
		expect([rejected.message, rejected.code]).toEqual(['The PDF took longer than 0.001 s to render.', undefined])
		expect(await strict.render(document('1', null), { owner: 'org_1', createdAt: 0 })).toBeInstanceOf(Uint8Array)
		await strict.close()
	})

	it('is made once for all who ask for the same document, and its bytes are kept', async () => {
		const [first, second] = await Promise.all([render('org_3', '1'), render('org_3', '1', { visitedLink: 'inv_1' })])
		expect(second).toBe(first)
		expect(await render('org_3', '1')).toBe(first)
		expect(await render('org_4', '1')).not.toBe(first)
	})

	it('is rejected with 503 when too many of its organization wait; its visitors and others are counted apart', async () => {
		const renders = ['1', '2', '3'].map((number) => render('org_5', number))
		await expect(render('org_5', '4')).rejects.toMatchObject({ code: 'unavailable', headers: { 'Retry-After': '10' } })
		const visitors = ['5', '6'].map((number) => render('org_5', number, { visitedLink: number }))
		await expect(render('org_5', '7', { visitedLink: '7' })).rejects.toMatchObject({ code: 'unavailable' })
		await Promise.all([...renders, ...visitors, render('org_6', '1')])
	})

	it('that nobody waits for any more leaves the queue; one that others wait for stays', async () => {
		const [left, shared] = [new AbortController(), new AbortController()]
		const first = render('org_7', '1')
		const waiting = [render('org_7', '2', { signal: left.signal }), render('org_7', '3', { signal: shared.signal })]
		const hungUp = Promise.allSettled(waiting)
		const other = render('org_7', '3')
		for (const controller of [left, shared]) controller.abort(new Error('hung up'))
		expect((await hungUp).map((result) => result.status === 'rejected' && result.reason.message)).toEqual(['hung up', 'hung up'])
		// There is one place again.
		const fourth = render('org_7', '4')
		await expect(render('org_7', '5')).rejects.toMatchObject({ code: 'unavailable' })
		await Promise.all([first, other, fourth])
	})

	it("costs its link's visitors time, and they get 429 when it is used up, but for a document that is kept", async () => {
		const visitor = { visitedLink: 'inv_8' }
		await render('org_8', '1', visitor)
		const rejected = await render('org_8', '2', visitor).catch((error) => error)
		expect(rejected).toMatchObject({ code: 'rate_limited' })
		expect(Number(rejected.headers['Retry-After'])).toBeGreaterThan(50)
		await Promise.all([render('org_8', '1', visitor), render('org_8', '2'), render('org_8', '3', { visitedLink: 'inv_9' })])
	})
})
