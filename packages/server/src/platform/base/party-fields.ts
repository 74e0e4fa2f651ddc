// The numbers of a buyer or seller that have check digits, as companies, organizations and invoices store them.
import { electronicFormatIBAN, isValidIBAN } from 'ibantools'
import type { BankAccount, BankAccountInput } from '../../generated/contract.ts'
import { checkAll, fieldError } from './errors.ts'
import { requireVatId } from './vat-ids.ts'

interface Written {
	readonly vatId?: string | null | undefined
	readonly bankAccount?: BankAccountInput | null | undefined
}

type Checked<Input> = Omit<Input, 'bankAccount'> & { readonly bankAccount?: BankAccount | null }

/** The input with its VAT id and its IBAN as they are stored; throws 422 that names each that is wrong. `place` is where the input stands. */
export function checkParty<Input extends Written>(input: Input, place = ''): Checked<Input> {
	const { vatId, bankAccount, ...plain } = input
	const [storedId, storedAccount] = checkAll(
		() => vatId && requireVatId(vatId, `${place}/vatId`),
		() => bankAccount && checkAccount(bankAccount, `${place}/bankAccount/iban`),
	)
	return {
		...plain,
		...(vatId !== undefined && { vatId: storedId }),
		...(bankAccount !== undefined && { bankAccount: storedAccount }),
	} as Checked<Input>
}

const blank: BankAccount = { holder: null, bankName: null, iban: null, bic: null, accountNumber: null, routingNumber: null }

function checkAccount(input: BankAccountInput, place: string): BankAccount {
	const iban = input.iban ? electronicFormatIBAN(input.iban) : null
	if (iban === null || isValidIBAN(iban)) return { ...blank, ...input, iban }
	throw fieldError('invalid_iban', place, `${input.iban} is no IBAN: its country, its length or its check digits are wrong.`)
}
