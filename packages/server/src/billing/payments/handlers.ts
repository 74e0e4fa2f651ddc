import type { Payment } from '../../generated/contract.ts'
import { historyHandler } from '../../platform/audit/history.ts'
import { dataText } from '../../platform/http/answers.ts'
import { etag } from '../../platform/http/etag.ts'
import { type Handler, writeContext } from '../../platform/http/handler.ts'
import { answerPage, lockForChange } from '../../platform/http/record-handlers.ts'
import { lockPayments, readPayment, readPayments } from '../ledger/store.ts'
import { allocatePayment, changePayment, createPayment, releasePayment, reversePayment } from './door.ts'
import { paymentNotFound } from './locks.ts'

export const list: Handler<'payments.list'> = (call, context) => {
	const { limit: _, offset: _offset, cursor, ...filters } = call.query
	const { organizationId } = call.caller
	return answerPage<Payment>('payment', call, context, (page) => readPayments(context.db, { ...filters, organizationId }, page))
}

export const get: Handler<'payments.get'> = async ({ params, caller }, { db }) => {
	const payment = await readPayment(db, caller.organizationId, params.id)
	if (!payment) throw paymentNotFound(params.id)
	return { status: 200, headers: { ETag: etag(payment.version) }, body: dataText<Payment>(payment.json) }
}

export const create: Handler<'payments.create'> = async ({ body, caller }, context) => {
	const { id, version } = await createPayment(writeContext(context, caller), body)
	return { status: 201, headers: { Location: `/api/payments/${id}`, ETag: etag(version) }, body: { id } }
}

const lock = lockForChange({
	lock: async (db, organizationId, id) => (await lockPayments(db, organizationId, [id]))[0],
	notFound: paymentNotFound,
})

export const update: Handler<'payments.update'> = async (call, context) => {
	const stored = await lock(call, context.db)
	const { version } = await changePayment(writeContext(context, call.caller), stored, call.body)
	return { status: 200, headers: { ETag: etag(version) }, body: { ok: true } }
}

const ok = { status: 200 as const, body: { ok: true as const } }

export const reverse: Handler<'payments.reverse'> = async ({ params, body, caller }, context) => {
	await reversePayment(writeContext(context, caller), params.id, body?.reason ?? null)
	return ok
}

export const allocate: Handler<'payments.allocate'> = async ({ params, body, caller }, context) => {
	await allocatePayment(writeContext(context, caller), params.id, body.allocations)
	return ok
}

export const release: Handler<'payments.release'> = async ({ params, query, caller }, context) => {
	await releasePayment(writeContext(context, caller), params.id, query.invoiceId)
	return ok
}

export const history = historyHandler({ kind: 'payment', find: readPayment, notFound: paymentNotFound })
