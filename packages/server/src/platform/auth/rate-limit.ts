// Limits the requests per minute of each key, or of each visitor when a request has no key, and wrong guesses. With REDIS_URL all processes share
// the counts; while Redis is gone, each process counts by itself.
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../base/errors.ts'
import { Shares } from '../fair/shares.ts'
import { type SignInLimit, signInLimit, signInWindows } from './sign-in-limit.ts'
import { Visitors } from './visitors.ts'

export interface RateLimit {
	/** Counts a request of a key or a visitor and returns the `X-RateLimit-*` headers. Throws 429 when the limit is reached. */
	count(bucket: string): Promise<Record<string, string>>
}

/** What a visitor can be wrong about: the API key, the token of a client link, the signature of a processor's webhook. */
export type Guess = 'key' | 'link' | 'signature'

/**
 * Limits wrong guesses, whatever the limits of requests are. No one guesses a secret of 190 bits: this keeps the noise out. What is right is let in
 * however many wrong ones came from its address, which may be that of a whole office or of a proxy.
 */
export interface GuessLimit {
	/** Counts a wrong guess. Throws 429 when the visitor has guessed wrong too often. */
	count(guess: Guess, visitor: string): Promise<void>
	/** Counts a guess as wrong when `work` finds nothing. Of many at once few look at a time. */
	attempt<T>(guess: Guess, visitor: string, work: () => Promise<T | undefined>): Promise<T | undefined>
}

export interface RateLimits {
	readonly invoicing: RateLimit
	readonly integration: RateLimit
	readonly guesses: GuessLimit
	readonly signIns: SignInLimit
	/** The bucket of a request without a key: the network of the first of these texts that is an address. */
	visitor(...addresses: readonly (string | undefined)[]): string
}

const windowSeconds = 60

/** How long Redis may take to answer. */
const answerMs = 250
/** The longest pause until one that is gone is asked for again. */
const mostPauseMs = 1_000

export interface RateLimitSettings {
	readonly INVOICING_RATE_LIMIT: number
	readonly INTEGRATION_RATE_LIMIT: number
	readonly GUESS_RATE_LIMIT: number
	/** Empty: this process counts by itself. */
	readonly REDIS_URL: string
}

/** The limits of both APIs and of guesses, over one store. */
export async function openRateLimits(settings: RateLimitSettings, log: Logger): Promise<RateLimits & { close(): void }> {
	const redis = settings.REDIS_URL ? await connect(settings.REDIS_URL, log) : undefined
	const visitors = new Visitors()
	return {
		invoicing: rateLimit('invoicing', settings.INVOICING_RATE_LIMIT, redis),
		integration: rateLimit('integration', settings.INTEGRATION_RATE_LIMIT, redis),
		guesses: guessLimit(settings.GUESS_RATE_LIMIT, redis),
		signIns: signInLimit({
			place: limiterOf('sign-in', signInWindows.place, redis),
			address: limiterOf('sign-in-address', signInWindows.address, redis),
			mail: limiterOf('password-mail', signInWindows.mail, redis),
			mailPlace: limiterOf('password-mail-place', signInWindows.mailPlace, redis),
		}),
		visitor: (...addresses) => visitors.bucketOf(addresses),
		close: () => redis?.disconnect(),
	}
}

/**
 * A request never waits for Redis to come back: commands fail at once while it is gone. A Redis that hangs is gone after one
 * time limit: the connection is closed, and a new one is not used before Redis has answered on it.
 */
async function connect(url: string, log: Logger): Promise<Redis> {
	const { Redis } = await import('ioredis')
	const redis = new Redis(url, {
		enableOfflineQueue: false,
		maxRetriesPerRequest: 0,
		connectTimeout: answerMs,
		socketTimeout: answerMs,
		retryStrategy: (times) => Math.min(times * 50, mostPauseMs),
		lazyConnect: true,
	})
	let isLost = false
	const lose = (err?: Error) => {
		if (!isLost) log.warn({ err }, 'Redis is gone: requests are limited by each process for itself')
		isLost = true
	}
	// Our own `disconnect` emits neither of these events.
	redis.on('error', lose).on('reconnecting', () => lose())
	redis.on('ready', () => {
		if (isLost) log.info('Redis is back: processes share their limits again')
		isLost = false
	})
	await redis.connect().catch(() => {})
	return redis
}

/** `perMinute` 0 means no limit. */
function rateLimit(name: string, perMinute: number, redis: Redis | undefined): RateLimit {
	if (perMinute === 0) return { count: async () => ({}) }
	const limiter = limiterOf(name, { points: perMinute }, redis)
	const headers = (state: RateLimiterRes) => ({
		'X-RateLimit-Limit': String(perMinute),
		'X-RateLimit-Remaining': String(state.remainingPoints),
		'X-RateLimit-Reset': String(Math.ceil((Date.now() + waitOf(state)) / 1000)),
	})
	return {
		async count(bucket) {
			try {
				return headers(await limiter.consume(bucket))
			} catch (state) {
				if (!(state instanceof RateLimiterRes)) throw state
				throw limitError(state, `There are ${perMinute} requests per minute for each key`, headers(state))
			}
		},
	}
}

const wrong: Record<Guess, string> = {
	key: 'Too many wrong API keys',
	link: 'Too many links that do not exist',
	signature: 'Too many webhooks with a wrong signature',
}

/** Attempts that are under way, of all visitors: each takes a connection for a look-up. A network alone has half of them. */
const attemptsAtOnce = 8
const attemptPatienceMs = 5_000

function guessLimit(perMinute: number, redis: Redis | undefined): GuessLimit {
	if (perMinute === 0) return { count: async () => {}, attempt: (_guess, _visitor, work) => work() }
	const limiter = limiterOf('guesses', { points: perMinute }, redis)
	const attempts = new Shares({ size: attemptsAtOnce, patienceMs: attemptPatienceMs })
	const count = async (guess: Guess, visitor: string) => {
		const state: unknown = await limiter.consume(`${guess} ${visitor}`).catch((refused: unknown) => refused)
		if (state instanceof RateLimiterRes && state.consumedPoints > perMinute) throw limitError(state, wrong[guess])
	}
	return {
		count,
		async attempt(guess, visitor, work) {
			const found = await attempts.run(visitor, work)
			if (found === undefined) await count(guess, visitor)
			return found
		},
	}
}

function limitError(state: RateLimiterRes, reason: string, headers: Record<string, string> = {}): ApiError {
	const seconds = Math.max(1, Math.ceil(waitOf(state) / 1000))
	return new ApiError('rate_limited', `${reason}; try again in ${seconds} s.`, {
		headers: { ...headers, 'Retry-After': String(seconds) },
	})
}

/**
 * Milliseconds to the end of the window. A timer ends it; the limiter computes its rest from the time of day, so that it is
 * longer than the window when the clock was set back.
 */
const waitOf = ({ msBeforeNext }: RateLimiterRes): number => Math.min(msBeforeNext, windowSeconds * 1000)

interface Window {
	readonly points: number
	/** In seconds. */
	readonly duration?: number
}

function limiterOf(name: string, { points, duration = windowSeconds }: Window, redis: Redis | undefined): RateLimiterAbstract {
	const memory = new RateLimiterMemory({ points, duration })
	if (!redis) return memory
	const keyPrefix = `remit:${name}`
	return new RateLimiterRedis({ storeClient: redis, keyPrefix, points, duration, insuranceLimiter: memory })
}
