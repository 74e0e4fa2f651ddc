// Forms, lists and errors as Stripe has them.
import type { Json } from './records.ts'
import { Refusal, type Reply } from './reply.ts'

export interface Form {
	[name: string]: string | null | Form
}

export const stripeError = (status: number, message: string, more: Json = {}): Reply => ({
	status,
	json: { error: { type: 'invalid_request_error', message, ...more } },
})

/** `address[country]=DE` as nested objects; an empty value takes a field away. */
export function fieldsOf(form: URLSearchParams): Form {
	const fields: Form = {}
	for (const [key, value] of form) {
		const [last = '', ...path] = key
			.split(/[[\]]+/)
			.filter(Boolean)
			.reverse()
		let place = fields
		for (const name of path.reverse()) {
			place[name] ??= {}
			place = place[name] as Form
		}
		place[last] = value === '' ? null : value
	}
	return fields
}

interface Listed {
	readonly id: string
	readonly createdAt: number
}

const compare: Record<string, (created: number, bound: number) => boolean> = {
	gt: (created, bound) => created > bound,
	gte: (created, bound) => created >= bound,
	lt: (created, bound) => created < bound,
	lte: (created, bound) => created <= bound,
}

export const seconds = (ms: number): number => Math.floor(ms / 1000)

export interface List<T> {
	readonly url: string
	readonly kind: string
	/** The newest first. */
	readonly all: readonly T[]
	present(one: T): unknown
}

export function pageOf<T extends Listed>({ url, kind, all, present }: List<T>, query: URLSearchParams): Reply {
	const limit = Number(query.get('limit') ?? 10)
	if (!(limit >= 1 && limit <= 100)) throw rejected('limit', 'Invalid limit: it must be between 1 and 100.')
	const after = query.get('starting_after')
	const before = query.get('ending_before')
	if (after && before) throw rejected('starting_after', 'You cannot set both ending_before and starting_after.')
	const bounds = Object.entries(compare).filter(([name]) => query.has(`created[${name}]`))
	const isWithin = ({ createdAt }: T) =>
		bounds.every(([name, fits]) => fits(seconds(createdAt), Number(query.get(`created[${name}]`))))
	const at = all.findIndex(({ id }) => id === (after ?? before))
	if ((after || before) && at < 0) {
		const param = after ? 'starting_after' : 'ending_before'
		throw new Refusal(stripeError(400, `No such ${kind}: '${after ?? before}'`, { code: 'resource_missing', param }))
	}
	const rest = (before ? all.slice(0, at) : all.slice(at + 1)).filter(isWithin)
	const data = (before ? rest.slice(-limit) : rest.slice(0, limit)).map(present)
	return { status: 200, json: { object: 'list', data, has_more: rest.length > limit, url }, page: data }
}

const rejected = (param: string, message: string) => new Refusal(stripeError(400, message, { param }))
