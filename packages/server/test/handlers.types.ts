// Invalid handler maps, which only the compiler checks. Each mistake must be a type error, or `pnpm check` fails.

import * as companies from '../src/billing/companies/handlers.ts'
import type { ErrorCodeOf, operations } from '../src/generated/contract.ts'
import { handlers } from '../src/operations.ts'
import type { Handler, Handlers } from '../src/platform/http/handler.ts'

const { 'companies.list': _list, ...withoutList } = handlers
// @ts-expect-error an operation of the contract without a handler
withoutList satisfies Handlers

// @ts-expect-error a handler for an operation that the contract does not have
;({ ...handlers, 'companies.burn': companies.remove }) satisfies Handlers

// @ts-expect-error a status that is not the operation's
const wrongStatus: Handler<'companies.delete'> = async () => ({ status: 201, body: { ok: true } })

// @ts-expect-error a body of another operation
const wrongBody: Handler<'companies.create'> = async () => ({
	status: 201,
	headers: { Location: '', ETag: '' },
	body: { ok: true },
})

// @ts-expect-error an answer without the headers that the contract requires
const noHeaders: Handler<'companies.create'> = async () => ({ status: 201, body: { id: 'cmp_1' } })

// @ts-expect-error a handler of another operation: its body is another
const otherHandler: Handler<'invoices.create'> = companies.create

export const code: ErrorCodeOf<'companies.get'> = 'company_not_found'

// @ts-expect-error a code that another operation gives
export const otherCode: ErrorCodeOf<'companies.get'> = 'contact_not_found'

export type Checked = [typeof wrongStatus, typeof wrongBody, typeof noHeaders, typeof otherHandler, keyof operations]
