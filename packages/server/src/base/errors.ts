// Every refusal has a code of the contract's closed list; this table gives each its status and title, and `problem` is
// the one place that renders them (RFC 9457).
import type { ErrorCode, Problem, ProblemError } from '../generated/contract.ts'

const kinds: Record<ErrorCode, readonly [status: number, title: string]> = {
	invalid_request: [400, 'Invalid request'],
	invalid_json: [400, 'Invalid JSON'],
	body_required: [400, 'Body required'],
	ambiguous_credentials: [400, 'Ambiguous credentials'],
	invalid_signature: [400, 'Invalid signature'],
	missing_credentials: [401, 'Missing credentials'],
	invalid_credentials: [401, 'Invalid credentials'],
	insufficient_scope: [403, 'Insufficient scope'],
	route_not_found: [404, 'Route not found'],
	invoice_not_found: [404, 'Invoice not found'],
	company_not_found: [404, 'Company not found'],
	api_key_not_found: [404, 'API key not found'],
	contact_not_found: [404, 'Contact not found'],
	deal_not_found: [404, 'Deal not found'],
	pipeline_not_found: [404, 'Pipeline not found'],
	time_entry_not_found: [404, 'Time entry not found'],
	tax_rate_not_found: [404, 'Tax rate not found'],
	client_link_not_found: [404, 'Client link not found'],
	payment_link_not_found: [404, 'Payment link not found'],
	webhook_endpoint_not_found: [404, 'Webhook endpoint not found'],
	webhook_delivery_not_found: [404, 'Webhook delivery not found'],
	event_not_found: [404, 'Event not found'],
	method_not_allowed: [405, 'Method not allowed'],
	request_timeout: [408, 'Request timeout'],
	invoice_number_taken: [409, 'Invoice number taken'],
	record_in_use: [409, 'Record in use'],
	tax_rate_in_use: [409, 'Tax rate in use'],
	stage_in_use: [409, 'Stage in use'],
	time_entry_invoiced: [409, 'Time entry invoiced'],
	time_entry_already_invoiced: [409, 'Time entry already invoiced'],
	invoice_cancelled: [409, 'Invoice cancelled'],
	email_not_configured: [409, 'E-mail not configured'],
	payment_processor_not_configured: [409, 'Payment processor not configured'],
	webhook_endpoint_not_active: [409, 'Webhook endpoint not active'],
	delivery_under_way: [409, 'Delivery under way'],
	idempotency_key_in_use: [409, 'Idempotency key in use'],
	version_mismatch: [412, 'Version mismatch'],
	payload_too_large: [413, 'Payload too large'],
	unsupported_media_type: [415, 'Unsupported media type'],
	totals_mismatch: [422, 'Totals mismatch'],
	amount_out_of_range: [422, 'Amount out of range'],
	mixed_tax_inclusion: [422, 'Mixed tax inclusion'],
	unknown_line_item: [422, 'Unknown line item'],
	invalid_line_item: [422, 'Invalid line item'],
	unknown_deal: [422, 'Unknown deal'],
	unknown_company: [422, 'Unknown company'],
	expires_in_past: [422, 'Expires in past'],
	unknown_contact: [422, 'Unknown contact'],
	unknown_pipeline: [422, 'Unknown pipeline'],
	unknown_stage: [422, 'Unknown stage'],
	invalid_stages: [422, 'Invalid stages'],
	invalid_time_entry: [422, 'Invalid time entry'],
	invalid_time_entries: [422, 'Invalid time entries'],
	rate_missing: [422, 'Rate missing'],
	currency_mismatch: [422, 'Currency mismatch'],
	unknown_tax_rate: [422, 'Unknown tax rate'],
	tax_rate_archived: [422, 'Tax rate archived'],
	unsafe_url: [422, 'Unsafe URL'],
	unresolvable_url: [422, 'Unresolvable URL'],
	nothing_to_pay: [422, 'Nothing to pay'],
	amount_not_payable: [422, 'Amount not payable'],
	idempotency_key_reused: [422, 'Idempotency key reused'],
	rate_limited: [429, 'Rate limited'],
	headers_too_large: [431, 'Headers too large'],
	internal_error: [500, 'Internal error'],
	email_delivery_failed: [502, 'E-mail delivery failed'],
	payment_processor_failed: [502, 'Payment processor failed'],
	unavailable: [503, 'Unavailable'],
}

export interface ErrorOptions {
	errors?: ProblemError[]
	headers?: Record<string, string>
	cause?: unknown
}

/** A refusal: thrown anywhere, answered as problem+json. `detail` is for the caller, in words. */
export class ApiError extends Error {
	readonly code: ErrorCode
	readonly errors: ProblemError[] | undefined
	readonly headers: Record<string, string>

	constructor(code: ErrorCode, detail: string, options: ErrorOptions = {}) {
		super(detail, { cause: options.cause })
		this.code = code
		this.errors = options.errors
		this.headers = options.headers ?? {}
	}

	get status(): number {
		return kinds[this.code][0]
	}
}

/** An error about one field of the body. */
export function fieldError(code: ErrorCode, pointer: string, detail: string): ApiError {
	return new ApiError(code, detail, { errors: [{ pointer, code, detail }] })
}

/** The path is there, but not for this method; `allowed` are those that it has. */
export const methodNotAllowed = (path: string, method: string, allowed: string) =>
	new ApiError('method_not_allowed', `${path} has no ${method}; it has ${allowed}.`, { headers: { Allow: allowed } })

export function problem(error: ApiError, instance: string, requestId: string): Problem {
	const [status, title] = kinds[error.code]
	return {
		type: `urn:remit:problem:${error.code}`,
		title,
		status,
		detail: error.message,
		instance,
		code: error.code,
		requestId,
		...(error.errors && { errors: error.errors }),
	}
}

/** A setting has a value that it may not have: the message is the one line that the operator reads. */
export class ConfigError extends Error {}
