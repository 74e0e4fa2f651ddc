// The SDK for commands.
import { ApiError, AuthenticationError, PermissionDeniedError, Remit, RemitError } from '@remit/sdk'
import { Core } from '@remit/sdk/core'
import { UsageError } from '../command.ts'

export const openClient = (apiKey: string, url: string) => new Remit({ apiKey, baseUrl: url, timeout: 30_000 })

/** What sends any operation; without a key for those that are public. */
export const openCore = (apiKey: string | undefined, url: string) =>
	new Core({ ...(apiKey ? { apiKey } : { session: true }), baseUrl: url, timeout: 30_000 })

export const isFinal = (error: RemitError) => error instanceof AuthenticationError || error instanceof PermissionDeniedError

export function toUsageError(error: unknown, url: string): unknown {
	if (!(error instanceof RemitError)) return error
	if (isFinal(error)) return new UsageError(`--api-key: ${url} refuses the key: ${error.message}`)
	const isOfServer = error instanceof ApiError && error.code !== undefined && error.code !== 'route_not_found'
	return new UsageError(isOfServer && error.status < 500 ? error.message : `--url ${url}: ${error.message}`)
}
