// The public names of the package.
export type { ApiPromise, ResponseInfo, WithResponse } from './api-promise.ts'
export type { ChangeOf } from './change.ts'
export { Remit } from './client.ts'
export {
	ApiError,
	AuthenticationError,
	BadRequestError,
	ConflictError,
	ConnectionError,
	NotFoundError,
	PermissionDeniedError,
	PreconditionFailedError,
	RateLimitError,
	RemitError,
	ServerError,
	TimeoutError,
	UnprocessableError,
} from './errors.ts'
export { type ErrorCodeOf, type ErrorOf, failed, type OperationName } from './failed.ts'
export type * from './generated/resources.ts'
export type { Logger, Middleware, OutgoingRequest, Send } from './middleware.ts'
export type {
	ConditionalRequestOptions,
	IdempotentRequestOptions,
	IfNoneMatch,
	ReadRequestOptions,
	RequestOptions,
} from './options.ts'
export type { Page, PagePromise } from './page.ts'
export type { RemitOptions } from './settings.ts'
export type { FollowRunOptions, SyncRunPromise } from './sync-run.ts'
export { SyncRunFailedError } from './sync-run.ts'
export type { SignTestWebhookOptions, VerifyWebhookOptions, WebhookHeaders, WebhookVerificationCode } from './webhooks.ts'
export { signTestWebhook, verifyWebhook, WebhookVerificationError } from './webhooks.ts'
