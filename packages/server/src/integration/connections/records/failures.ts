// What an answer that is no success, or none at all, means for who made the call.

import type { ConnectionErrorCode } from '../../../generated/contract.ts'
import { ApiError } from '../../../platform/base/errors.ts'
import type { CallFailed, OutsideAnswer } from '../../../platform/outside/providers/json-call.ts'
import type { TokenFailed } from '../../../platform/outside/providers/oauth.ts'
import { retryAfterMs as waitOf } from '../../../platform/work/backoff.ts'
import { errorOf } from '../probe.ts'
import type { Manifest } from '../providers/manifest.ts'
import { oneLine, textsAt, valueAt } from '../values.ts'
import { type FailureKind, ProviderFailed } from './types.ts'

/** Runs calls to a provider for a request: one that fails is 502, one that the server has no key for 503. */
export async function answering<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		if (!(error instanceof ProviderFailed)) throw error
		throw new ApiError(error.kind === 'unreadable' ? 'unavailable' : 'provider_failed', error.message, { cause: error })
	}
}

export type Effect = 'read' | 'write'

/** Without a Retry-After. */
const pauseMs = 10_000

/** A provider that asks for a longer pause, a day perhaps, is asked once in so long whether it still does: it may have been a mistake, or mended. */
export const longestPauseMs = 3_600_000

/** Of a write, something that was sent may have been stored. */
const broken = (effect: Effect, isUnsent = false): FailureKind => (effect === 'read' || isUnsent ? 'retry' : 'unclear')

export function fromCall(error: CallFailed, effect: Effect): ProviderFailed {
	const { code, message, isUnsent } = error
	// What came after a request was sent says nothing of whether it was stored.
	if (code === 'unsafe_url' || (code === 'answer_too_large' && effect === 'read'))
		return new ProviderFailed('rejected', code, message, { cause: error })
	return new ProviderFailed(broken(effect, isUnsent), code, message, { cause: error })
}

const needOthers: readonly ConnectionErrorCode[] = ['unauthorized', 'not_authorized', 'invalid_client']

const final: readonly ConnectionErrorCode[] = ['unsafe_url', 'answer_too_large', 'forbidden', 'rejected', 'account_not_chosen']

/** There was no token, and so no call. */
export function fromToken(error: TokenFailed): ProviderFailed {
	const { code, message } = error
	const options = { cause: error, ...(code === 'rate_limited' && { retryAfterMs: pauseMs }) }
	return new ProviderFailed(kindOf(code), code, message, options)
}

function kindOf(code: ConnectionErrorCode): FailureKind {
	if (code === 'credentials_lost') return 'unreadable'
	if (code === 'rate_limited') return 'limit'
	if (needOthers.includes(code)) return 'reauth'
	return final.includes(code) ? 'rejected' : 'retry'
}

export interface Asked {
	readonly manifest: Manifest
	readonly effect: Effect
	/** The method and the path. */
	readonly request: string
	/** Whether the write had a key by which the provider stores it once. */
	readonly isKeyed: boolean
	readonly secrets: readonly string[]
}

/** The failure that an answer is; undefined for a success. */
export function fromAnswer(answer: OutsideAnswer, now: number, asked: Asked): ProviderFailed | undefined {
	const { status, headers } = answer
	if (status >= 200 && status < 300) return undefined
	const code = errorOf(status) ?? 'provider_failed'
	const said = saidOf(answer, asked)
	const told = waitOf(headers['retry-after'], now)
	const wait = told === undefined ? undefined : Math.min(told, longestPauseMs)
	if (status === 429 || (status === 503 && wait !== undefined))
		return new ProviderFailed('limit', 'rate_limited', said, { retryAfterMs: wait ?? longPause(answer, asked) ?? pauseMs })
	if (status === 401) return new ProviderFailed('reauth', code, said)
	if (status === 408 || status >= 500)
		return new ProviderFailed(broken(asked.effect), 'provider_failed', said, { retryAfterMs: wait })
	// 425 was not processed; 409 to a write with a key may say that the first one is under way.
	if (status === 425) return new ProviderFailed('retry', 'provider_failed', said, { retryAfterMs: wait })
	if (status === 409 && asked.isKeyed) return new ProviderFailed('unclear', code, said, { retryAfterMs: wait })
	if (status < 400) return new ProviderFailed('rejected', 'invalid_answer', `${said} It is a redirect, which is not followed.`)
	return new ProviderFailed('rejected', code, said)
}

/** What the provider answered to what, in its own words where it has any. */
function saidOf(answer: OutsideAnswer, asked: Asked): string {
	const reason = reasonIn(answer, asked)
	const said = `The provider answered ${answer.status} to ${withoutSecrets(asked.request, asked.secrets) ?? 'the call'}.`
	return reason ? `${said} It says: ${reason}` : said
}

const parsed = (text: string): unknown => {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}

function longPause({ text }: OutsideAnswer, { manifest: { longLimit } }: Asked): number | undefined {
	return longLimit && valueAt(parsed(text), longLimit.path) === longLimit.value ? longLimit.pauseMs : undefined
}

const longestReason = 500

/** What the provider says is wrong, without any secret; undefined when it does not say. */
function reasonIn({ text }: OutsideAnswer, { manifest, secrets }: Asked): string | undefined {
	const json = parsed(text)
	const found = manifest.errors.map((path) => [...new Set(textsAt(json, path))].join(' ')).find((reason) => reason !== '')
	return found === undefined ? undefined : withoutSecrets(found, secrets)
}

/** Shorter secrets occur in innocent words: what has one in it is left out as a whole. */
const shortestReplaced = 8

function withoutSecrets(text: string, secrets: readonly string[]): string | undefined {
	const forms = secrets.flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
	let clean = text
	// The longest first, as one may be in another.
	for (const form of forms.filter(Boolean).sort((a, b) => b.length - a.length)) {
		if (!clean.includes(form)) continue
		if (form.length < shortestReplaced) return undefined
		clean = clean.replaceAll(form, '…')
	}
	return oneLine(clean, longestReason)
}
