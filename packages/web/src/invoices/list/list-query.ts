import type { InvoiceSummary } from '@remit/sdk'
import { getRouteApi } from '@tanstack/react-router'
import type { InvoiceSearch } from '../../api/addresses.ts'

export const route = getRouteApi('/invoices')

export type Search = InvoiceSearch
export type Row = InvoiceSummary

export const hasFilter = ({ search, company, currency }: Search): boolean => Boolean(search ?? company ?? currency)
