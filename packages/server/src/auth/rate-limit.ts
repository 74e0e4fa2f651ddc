// Limits the requests per minute of each key, or of each address when a request has no key. With REDIS_URL all processes share
// the counts; while Redis is gone, each process counts by itself.
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible'
import { ApiError } from '../base/errors.ts'

export interface RateLimit {
	/** Counts a request and returns the `X-RateLimit-*` headers. Throws 429 when the limit is reached. */
	count(bucket: string): Promise<Record<string, string>>
	/** The same for a visitor without a key. Also throws 429 when the address has tried too many unknown tokens. */
	countVisitor(address: string | undefined): Promise<Record<string, string>>
	/** Counts an unknown token. */
	countMiss(address: string | undefined): void
}

export interface RateLimits {
	readonly invoicing: RateLimit
	readonly integration: RateLimit
}

/** Unknown tokens that an address may try in a minute. This keeps noise out; no one guesses a token of 192 bits. */
const missesPerMinute = 30

const windowSeconds = 60

export interface RateLimitSettings {
	readonly INVOICING_RATE_LIMIT: number
	readonly INTEGRATION_RATE_LIMIT: number
	/** Empty: this process counts by itself. */
	readonly REDIS_URL: string
}

/** The limits of both APIs, over one store. */
export async function openRateLimits(
	{ INVOICING_RATE_LIMIT, INTEGRATION_RATE_LIMIT, REDIS_URL }: RateLimitSettings,
	log: Logger,
): Promise<RateLimits & { close(): void }> {
	const redis = REDIS_URL ? await connect(REDIS_URL, log) : undefined
	return {
		invoicing: rateLimit('invoicing', INVOICING_RATE_LIMIT, redis),
		integration: rateLimit('integration', INTEGRATION_RATE_LIMIT, redis),
		close: () => redis?.disconnect(),
	}
}

/** A request never waits for Redis to come back: commands fail at once while it is gone. */
async function connect(url: string, log: Logger): Promise<Redis> {
	const { Redis } = await import('ioredis')
	const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 0, commandTimeout: 250, lazyConnect: true })
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
	if (perMinute === 0) return { count: async () => ({}), countVisitor: async () => ({}), countMiss() {} }
	const limiter = limiterOf(name, perMinute, redis)
	const misses = limiterOf(`${name} misses`, missesPerMinute, redis)
	const headers = (state: RateLimiterRes) => ({
		'X-RateLimit-Limit': String(perMinute),
		'X-RateLimit-Remaining': String(state.remainingPoints),
		'X-RateLimit-Reset': String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
	})
	const limitError = (state: RateLimiterRes, reason: string) => {
		const seconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
		return new ApiError('rate_limited', `${reason}; try again in ${seconds} s.`, {
			headers: { ...headers(state), 'Retry-After': String(seconds) },
		})
	}
	async function count(bucket: string) {
		try {
			return headers(await limiter.consume(bucket))
		} catch (state) {
			if (!(state instanceof RateLimiterRes)) throw state
			throw limitError(state, `There are ${perMinute} requests per minute for each key`)
		}
	}
	return {
		count,
		async countVisitor(address) {
			const missed = await misses.get(`address ${address}`)
			if (missed && missed.consumedPoints >= missesPerMinute) throw limitError(missed, 'Too many links that do not exist')
			return count(`address ${address}`)
		},
		countMiss(address) {
			misses.consume(`address ${address}`).catch(() => {})
		},
	}
}

function limiterOf(name: string, points: number, redis: Redis | undefined): RateLimiterAbstract {
	const memory = new RateLimiterMemory({ points, duration: windowSeconds })
	if (!redis) return memory
	const keyPrefix = `remit:${name}`
	return new RateLimiterRedis({ storeClient: redis, keyPrefix, points, duration: windowSeconds, insuranceLimiter: memory })
}
