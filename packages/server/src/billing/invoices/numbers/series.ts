// How numbers look: a prefix, which may have the year of issue in it, and digits. Each prefix, with its year, is a series that counts
// from 1 on its own.

import type { OrganizationSettings } from '../../../generated/contract.ts'
import { dayMs, todayIn } from '../../../platform/base/dates.ts'

export type NumberSettings = Pick<OrganizationSettings, 'timeZone' | 'invoiceNumberPrefix' | 'invoiceNumberDigits'>

const yearMark = '{year}'

/** The series of an invoice that is issued at a time: a plain date is that day everywhere, any other time one in the time zone. */
export function seriesOf({ invoiceNumberPrefix, timeZone }: NumberSettings, issued: number): string {
	const day = issued % dayMs === 0 ? issued : todayIn(timeZone, issued).date
	return invoiceNumberPrefix.replaceAll(yearMark, String(new Date(day).getUTCFullYear()))
}

export const formatNumber = (series: string, number: number, { invoiceNumberDigits }: NumberSettings) =>
	series + String(number).padStart(invoiceNumberDigits, '0')

/** The series and number of a text that has the form of a generated number, whatever its year. */
export function parseNumber(
	text: string,
	{ invoiceNumberPrefix }: NumberSettings,
): { series: string; number: number } | undefined {
	const escaped = invoiceNumberPrefix.split(yearMark).map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
	const match = new RegExp(`^(${escaped.join('\\d{4}')})(\\d+)$`).exec(text)
	return match ? { series: match[1] as string, number: Number(match[2]) } : undefined
}

/** What stands for the number of an invoice that is not issued, where numbers are given on issue. */
export const draftNumber = (id: string) => `DRAFT-${id.slice(-8)}`
