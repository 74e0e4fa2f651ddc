// `@remit/sdk/core`: the parts of the client one by one, for pages and functions where every kilobyte counts. A bundler leaves out the
// resources that are not named.
export {
	ApiError,
	ConnectionError,
	RemitError,
	TimeoutError,
} from './errors.ts'
export { type ErrorCodeOf, type ErrorOf, failed, type OperationName } from './failed.ts'
export * from './generated/resources.ts'
export { Transport as Core } from './transport.ts'
