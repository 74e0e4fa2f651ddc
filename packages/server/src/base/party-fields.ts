// The numbers of a buyer or seller that have check digits, as companies, organizations and invoices store them.
import { electronicFormatIBAN, isValidIBAN } from 'ibantools'
import type { BankAccount, BankAccountInput } from '../generated/contract.ts'
import { fieldError } from './errors.ts'
import { requireVatId } from './vat-ids.ts'

interface Written {
	readonly vatId?: string | null | undefined
	readonly bankAccount?: BankAccountInput | null | undefined
}

type Checked<Input> = Omit<Input, 'bankAccount'> & { readonly bankAccount?: BankAccount | null }

/** The input with its VAT id and its IBAN as they are stored; throws 422 when one is wrong. `place` is where the input stands. */
export function checkParty<Input extends Written>(input: Input, place = ''): Checked<Input> {
	const { vatId, bankAccount, ...plain } = input
	return {
		...plain,
		...(vatId !== undefined && { vatId: vatId && requireVatId(vatId, `${place}/vatId`) }),
		...(bankAccount !== undefined && { bankAccount: bankAccount && checkAccount(bankAccount, `${place}/bankAccount/iban`) }),
	} as Checked<Input>
}

const blank: BankAccount = { holder: null, bankName: null, iban: null, bic: null, accountNumber: null, routingNumber: null }

function checkAccount(input: BankAccountInput, place: string): BankAccount {
	const iban = input.iban ? electronicFormatIBAN(input.iban) : null
	if (iban === null || isValidIBAN(iban)) return { ...blank, ...input, iban }
	throw fieldError('invalid_iban', place, `${input.iban} is no IBAN: its country, its length or its check digits are wrong.`)
}
