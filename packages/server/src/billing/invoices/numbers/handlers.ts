import type { NumberGap } from '../../../generated/contract.ts'
import { fieldError } from '../../../platform/base/errors.ts'
import { recordChange } from '../../../platform/db/audit-log.ts'
import type { Handler } from '../../../platform/http/handler.ts'
import { answerPage } from '../../../platform/http/record-handlers.ts'
import { largestUsed, listSeries } from './gaps-store.ts'
import { formatNumber, seriesOf } from './series.ts'
import { readNext, setNext } from './store.ts'
import { readGapPage, type Series } from './walk.ts'

export const getNext: Handler<'organization.nextInvoiceNumber.get'> = async ({ caller }, { db, now }) => {
	const { organizationId, organization } = caller
	const series = seriesOf(organization, now)
	const number = await readNext(db, { organizationId, series })
	return { status: 200, body: { data: { series, number, invoiceNumber: formatNumber(series, number, organization) } } }
}

export const replaceNext: Handler<'organization.nextInvoiceNumber.replace'> = async ({ body, caller }, { db, origin }) => {
	const { organizationId, organization } = caller
	const series = seriesOf(organization, origin.now)
	const key = { organizationId, series }
	const { number } = body
	const by = {
		reason: 'setting' as const,
		invoiceId: null,
		skippedBy: origin.actor.id ?? origin.actor.type,
		skippedAt: origin.now,
	}
	// The counter is locked from here on, so that no invoice takes a number that was just looked for.
	const before = await setNext(db, key, number, by)
	const used = await largestUsed(db, organizationId, series)
	if (number <= used) {
		const detail = `${formatNumber(series, used, organization)} was used: the next number is ${used + 1} or more.`
		throw fieldError('number_used', '/number', detail)
	}
	const of = { organizationId, resource: 'organization_settings', resourceId: organizationId } as const
	const values = { before: { series, nextInvoiceNumber: before }, after: { series, nextInvoiceNumber: number } }
	await recordChange({ db, origin }, { ...of, action: 'updated', ...values })
	return { status: 200, body: { ok: true } }
}

export const listGaps: Handler<'numberGaps.list'> = async (call, context) => {
	const { db, now } = context
	const { organizationId, organization } = call.caller
	const all: Series[] = []
	for (const series of await listSeries(db, organizationId, seriesOf(organization, now)))
		all.push({ organizationId, series, next: await readNext(db, { organizationId, series }) })
	return answerPage<NumberGap>('number gap', call, context, (page) => readGapPage(db, all, page))
}
